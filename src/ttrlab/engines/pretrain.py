"""Pre-training of the lab's tiny models, and the measurement that says whether a checkpoint is what its config says."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from torch import Tensor
from torch.nn import functional
from tqdm import tqdm
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

from ttrlab.benchmarks.lab import questions
from ttrlab.benchmarks.lab.corpus import batch
from ttrlab.benchmarks.lab.judging import JUDGE_TOKENS, JUDGEMENT, judgement_batch
from ttrlab.benchmarks.lab.world import LOOSE, TIGHT, TOPICS
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.lab import LabBenchmark, LabModel
from ttrlab.config.settings import Sampling
from ttrlab.engines.torch_policy import TorchPolicy
from ttrlab.seeds import rng, stream
from ttrlab.types import Question

BOX, BREAK = "\\boxed{", "\n\n"
SPECIAL = ("<pad>", "<s>", "</s>")
WORDS = (TIGHT, *LOOSE)
VOCABULARY = (*SPECIAL, BOX, BREAK, *"0123456789+=}", *WORDS, *(topic for topics in TOPICS.values() for topic in topics))
JUDGES_VOCABULARY = (*VOCABULARY, *JUDGE_TOKENS)
PAD, BOS, EOS = range(3)
WORD_LOSS = 0.25
"""Weight of the loss on wording tokens, which are noise by design."""
WARMUP = 30
LEAST_RATE = 0.03
MEASURED_QUESTIONS, MEASURED_SAMPLES, MEASURED_JUDGEMENTS = 24, 16, 200
VALID = 0.9
"""The least share of valid judgements that a judge is kept with."""
ARCHITECTURES: dict[str, dict[str, int]] = {
    "llama": {"hidden_size": 128, "intermediate_size": 384, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4},
    "qwen3": {
        "hidden_size": 96,
        "intermediate_size": 256,
        "num_hidden_layers": 3,
        "num_attention_heads": 3,
        "num_key_value_heads": 1,
        "head_dim": 32,
    },
}
"""Not qwen2: transformers 5 loads every Qwen2 checkpoint with Qwen2's own tokenizer, whatever tokenizer the folder holds."""


def vocabulary(model: LabModel) -> tuple[str, ...]:
    """All tokens of a model; those of judgements stand last, and only where it learns to write them."""
    return JUDGES_VOCABULARY if model.judgements else VOCABULARY


def tokenizer(tokens: tuple[str, ...]) -> PreTrainedTokenizerFast:
    """One token a digit, a sign, a word, a topic, the box, the paragraph break, a phrase of a judgement; decoding gives the text back."""
    inner = Tokenizer(WordLevel({token: number for number, token in enumerate(tokens)}, unk_token="<pad>"))
    longest_first = sorted(tokens[len(SPECIAL) :], key=len, reverse=True)
    inner.pre_tokenizer = Split(Regex("|".join(_escaped(token) for token in longest_first)), "isolated")
    inner.decoder = Fuse()
    fast = PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>", eos_token="</s>", pad_token="<pad>")
    return fast


def _escaped(token: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\{}+" else sign for sign in token)


def new_model(model: LabModel) -> Any:
    """A randomly initialised transformer of the lab's size (head size 32, which vLLM loads)."""
    torch.manual_seed(stream(model.seed, "lab", "initialise"))
    config = AutoConfig.for_model(
        model.architecture,
        vocab_size=len(vocabulary(model)),
        max_position_embeddings=128,
        tie_word_embeddings=True,
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
        **ARCHITECTURES[model.architecture],
    )
    return AutoModelForCausalLM.from_config(config)


def encoded(pairs: list[tuple[str, str]], words: PreTrainedTokenizerFast) -> tuple[Tensor, Tensor]:
    """(B, T) ids, right-padded, and (B, T) loss weights: 0 on the prompt, less on wording, 1 elsewhere."""
    wording = {VOCABULARY.index(word) for word in WORDS}
    prompts = words([prompt for prompt, _ in pairs])["input_ids"]
    responses = words([response for _, response in pairs])["input_ids"]
    longest = max(len(prompt) + len(response) for prompt, response in zip(prompts, responses, strict=True)) + 1
    ids = torch.full((len(pairs), longest), PAD)
    weights = torch.zeros(len(pairs), longest)
    for row, (prompt, response) in enumerate(zip(prompts, responses, strict=True)):
        tokens = [*prompt, *response, EOS]
        ids[row, : len(tokens)] = torch.tensor(tokens)
        weights[row, len(prompt) : len(tokens)] = torch.tensor([WORD_LOSS if token in wording else 1.0 for token in tokens[len(prompt) :]])
    return ids, weights


def rate(model: LabModel, step: int) -> float:
    """Learning rate of a step: linear warm-up and a half cosine that ends at 3 %."""
    cosine = 0.5 * (1 + math.cos(math.pi * step / model.steps))
    return model.learning_rate * min(1, (step + 1) / WARMUP) * max(LEAST_RATE, cosine)


def judges(model: LabModel, step: int) -> bool:
    """True for the steps on judgements, spread evenly."""
    return int((step + 1) * model.judgements) > int(step * model.judgements)


def pretrain(model: LabModel, folder: Path) -> dict[str, Any]:
    """Train a model on the corpus, write it to ``folder`` in Hugging Face form and return its measured regimes.

    The same config gives the same bytes on one machine with one thread. ValueError when a measured regime is not what the config says.
    """
    words, network = tokenizer(vocabulary(model)), new_model(model)
    draw = rng(model.seed, "lab", "corpus")
    optimiser = torch.optim.AdamW(network.parameters(), lr=model.learning_rate, betas=(0.9, 0.98), weight_decay=0.01)
    for step in tqdm(range(model.steps), unit="step", disable=None, desc="pretrain"):
        for group in optimiser.param_groups:
            group["lr"] = rate(model, step)
        corpus = judgement_batch if judges(model, step) else batch
        ids, weights = encoded(corpus(draw, model.regimes, model.batch), words)
        logits = network(input_ids=ids, use_cache=False).logits[:, :-1]
        losses = functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none").view(ids.shape[0], -1)
        loss = (losses * weights[:, 1:]).sum() / weights[:, 1:].sum()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
    network.save_pretrained(folder)
    words.save_pretrained(folder)
    policy = TorchPolicy(str(folder), None, PromptStyle(template="plain", where="none"), "integer")
    measured = measure(model, policy)
    check(model, measured)
    report = {"loss": float(loss.detach()), "regimes": measured}
    return {**report, "valid_judgements": valid_judgements(model, policy)} if model.judgements else report


def valid_judgements(model: LabModel, policy: TorchPolicy) -> float:
    """The share of sampled judgements that are JSON with a reason and a score; ValueError when it is below ``VALID``."""
    prompts = [prompt for prompt, _ in judgement_batch(rng(model.seed, "lab", "judged"), model.regimes, MEASURED_JUDGEMENTS)]
    asked = [Question(f"judged/{number}", prompt) for number, prompt in enumerate(prompts)]
    seeds = [stream(model.seed, "lab", "judged", number) for number in range(len(asked))]
    sampled = policy.sample(asked, 1, Sampling(max_new_tokens=16, max_prompt_tokens=40), seeds, frozenset())
    share = float(np.mean([JUDGEMENT.fullmatch(rollout.text) is not None for (rollout,) in sampled]))
    if share < VALID:
        raise ValueError(f"measured share of valid judgements {share:.2f}, expected at least {VALID}; pre-train longer")
    return share


def measure(model: LabModel, policy: TorchPolicy) -> dict[str, dict[str, float]]:
    """Regime -> shares of right answers and of the planted error, and the confidence gap between them in nats, from roll-outs."""
    found: dict[str, dict[str, float]] = {}
    for regime in model.regimes:
        asked = questions(LabBenchmark(mix={regime: MEASURED_QUESTIONS}, seed=1))
        seeds = [stream(model.seed, "lab", "measure", regime, number) for number in range(len(asked))]
        sampling = Sampling(max_new_tokens=24, max_prompt_tokens=32)
        sampled = policy.sample([question for question, _, _ in asked], MEASURED_SAMPLES, sampling, seeds, frozenset())
        outcomes = [
            (_boxed(rollout.text), int(gold), float(rollout.logprobs.mean()))
            for (_, gold, _), rollouts in zip(asked, sampled, strict=True)
            for rollout in rollouts
            if rollout.logprobs is not None
        ]
        found[regime] = _summary(outcomes)
    return found


def _boxed(text: str) -> int | None:
    digits = text.partition(BOX)[2].partition("}")[0]
    return int(digits) if digits.isdecimal() else None


def _summary(outcomes: list[tuple[int | None, int, float]]) -> dict[str, float]:
    right = np.array([answer == gold for answer, gold, _ in outcomes])
    wrong = np.array([answer == gold - 10 for answer, gold, _ in outcomes])
    confidence = np.array([mean for _, _, mean in outcomes])
    gap = float(confidence[right].mean() - confidence[wrong].mean()) if right.any() and wrong.any() else 0.0
    return {"right": float(right.mean()), "wrong": float(wrong.mean()), "confidence_gap": gap}


def check(model: LabModel, measured: dict[str, dict[str, float]]) -> None:
    """Refuse a model whose measured shares lie further than ``tolerance`` from its config's, or whose confidence gap points the wrong way.

    The tighter side must be the more confident one where the two differ in wording.
    """
    for name, regime in model.regimes.items():
        found = measured[name]
        for side, expected in (("right", regime.right), ("wrong", regime.wrong)):
            if abs(found[side] - expected) > model.tolerance:
                raise ValueError(
                    f"regime {name!r}: measured share of {side} answers {found[side]:.2f}, expected {expected:.2f} +- {model.tolerance}; "
                    f"pre-train longer or with another seed"
                )
        tighter = regime.words_wrong - regime.words_right
        if regime.right and tighter * found["confidence_gap"] < 0:
            raise ValueError(
                f"regime {name!r}: measured confidence gap {found['confidence_gap']:+.2f} nats, expected {'>' if tighter > 0 else '<'} 0"
            )
