import pytest

from tests.engines.tiny import tokenizer
from ttrlab.config.catalogue import BOXED, LETTER, PromptStyle
from ttrlab.engines.prompts import Prompter
from ttrlab.types import Question

TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% if enable_thinking is defined and not enable_thinking %}<quiet>{% endif %}{% endif %}"
)


class Spy:
    """A tokenizer whose tokens are characters, with a chat template."""

    def __init__(self):
        self.inner = tokenizer()
        self.inner.chat_template = self.chat_template = TEMPLATE

    def apply_chat_template(self, *args, **kwargs):
        return self.inner.apply_chat_template(*args, **kwargs)

    def __call__(self, text, add_special_tokens):
        return {"input_ids": [ord(sign) for sign in text]}


def prompt(kind="math", **style):
    ids = Prompter(Spy(), PromptStyle(**style), kind).tokens(Question("q", "1+1?"), 10_000)
    return "".join(map(chr, ids))


@pytest.mark.parametrize(
    "style, expected",
    [
        ({}, f"<user>1+1?\n{BOXED}</user><assistant>"),
        ({"where": "system"}, f"<system>{BOXED}</system><user>1+1?</user><assistant>"),
        ({"where": "none"}, "<user>1+1?</user><assistant>"),
        ({"template": "plain"}, "1+1?"),
        ({"where": "none", "template_arguments": {"enable_thinking": False}}, "<user>1+1?</user><assistant><quiet>"),
        (
            {"where": "none", "demonstrations": (("2+2?", "4"),)},
            "<user>2+2?</user><assistant>4</assistant><user>1+1?</user><assistant>",
        ),
    ],
)
def test_a_prompt_is_what_its_style_says(style, expected):
    assert prompt(**style) == expected


def test_a_multiple_choice_question_asks_for_the_letter_whatever_the_style():
    assert LETTER in prompt(kind="choice")
    assert LETTER in prompt(kind="choice", where="none")


def test_steps_end_at_blank_lines_on_token_boundaries():
    words = tokenizer()
    prompter = Prompter(words, PromptStyle(template="plain"), "math")
    ids = words("one\n\ntwo")["input_ids"]
    assert prompter.steps(ids) == (4, 7)
    assert prompter.text(ids) == "one\n\ntwo"


def test_a_tokenizer_without_a_chat_template_is_refused_with_the_key():
    with pytest.raises(ValueError, match=r"prompt\.template is 'chat'.*template: plain"):
        Prompter(tokenizer(), PromptStyle(), "math").tokens(Question("q", "1+1?"), 10_000)
