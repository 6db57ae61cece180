"""OpenRLHF 0.11.2 (Ray, vLLM, DeepSpeed) as a program that is started: command line, files, checks, results. Nothing of it is imported."""
