"""Studies, catalogues and specs: validated before anything runs; loads no torch."""
