"""From a question to prompt tokens: the model's tokenizer and, unless the prompt style is plain, its chat template."""

import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ttrlab.config.catalogue import AnswerKind, PromptStyle
from ttrlab.steps import step_ends
from ttrlab.types import Question


class Prompter:
    """Renders prompts and reads responses with one tokenizer."""

    def __init__(self, tokenizer: Any, style: PromptStyle, kind: AnswerKind) -> None:
        self.tokenizer, self.style, self.kind = tokenizer, style, kind
        self.text_of = lru_cache(maxsize=None)(self._text_of)

    def tokens(self, question: Question, longest: int) -> list[int]:
        """Prompt token ids. ValueError: no chat template; or the question whose prompt exceeds ``longest`` tokens."""
        if self.style.template == "plain":
            ids = self.tokenizer(question.prompt, add_special_tokens=True)["input_ids"]
        elif self.tokenizer.chat_template is None:
            raise ValueError("prompt.template is 'chat', but the model's tokenizer has no chat template; use prompt: {template: plain}")
        else:
            text = self.tokenizer.apply_chat_template(
                self.style.messages(question.prompt, self.kind),
                tokenize=False,
                add_generation_prompt=True,
                **self.style.template_arguments,
            )
            ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if len(ids) > longest:
            raise ValueError(f"question {question.id!r}: the prompt has {len(ids)} tokens, max_prompt_tokens is {longest}")
        return list(ids)

    def count(self, text: str) -> int:
        """Tokens of a user turn once it is a prompt."""
        return len(self.tokens(Question("count", text), sys.maxsize))

    def target(self, text: str) -> tuple[int, ...]:
        """A written response as token ids, as if the model had said it: no start token, the end-of-sequence token last."""
        return (*self.tokenizer(text, add_special_tokens=False)["input_ids"], self.tokenizer.eos_token_id)

    def text(self, ids: Sequence[int]) -> str:
        """The text of response tokens, special tokens left out."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def _text_of(self, token: int) -> str:
        return self.text([token])

    def steps(self, ids: Sequence[int]) -> tuple[int, ...]:
        """Exclusive ends of the reasoning steps in token positions."""
        return step_ends([self.text_of(token) for token in ids])
