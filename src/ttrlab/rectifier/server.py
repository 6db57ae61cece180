"""A judge behind an OpenAI-compatible HTTP server, such as vLLM's."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import Any, TypeVar

import urllib3
from pydantic import BaseModel, ValidationError
from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_delay, stop_when_event_set, wait_exponential, wait_random
from tenacity.nap import sleep_using_event

from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.judge import JudgeLimits, ServerHome
from ttrlab.rectifier.judge import JudgedItem, JudgeItem, judge_identity, judged
from ttrlab.rectifier.prompt import JudgePrompt

CONNECT_SECONDS = 10
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 15.0
"""Seconds between two tries of a request while the server does not answer; doubled each time."""

_TRY_AGAIN = frozenset({408, 429, 500, 502, 503, 504})


class JudgeUnavailable(RuntimeError):
    """The judge's server did not answer for as long as it may be waited for. The step is not decided and is redone on resume."""


class _NoAnswer(Exception):
    """One try of a request failed in a way that a restart or a pause may cure."""


class _Message(BaseModel):
    content: str | None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None


class _Usage(BaseModel):
    completion_tokens: int


class _Completion(BaseModel):
    model: str
    choices: list[_Choice]
    usage: _Usage


class _Tokens(BaseModel):
    count: int


class _Model(BaseModel):
    id: str


class _Models(BaseModel):
    data: list[_Model]


Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True, eq=False)
class ServerJudge:
    """Greedy judgements from ``home.url``: at most ``home.concurrency`` requests in flight, each limited in time and tried again with
    growing pauses until the server has been silent for ``home.restart_seconds``.

    ``rectifier``: hash of the weights that the server was started with; ``style``: the model's prompt style for judging, ``chat`` only.
    """

    home: ServerHome
    prompt: JudgePrompt
    limits: JudgeLimits
    rectifier: str
    style: PromptStyle

    def __post_init__(self) -> None:
        if self.style.template != "chat":
            raise ValueError(f"a served judge is asked through its chat template, got the prompt template {self.style.template!r}")

    @property
    def identity(self) -> str:
        """See ``Judge``."""
        return judge_identity(self.rectifier, self.prompt, self.limits)

    @cached_property
    def _http(self) -> urllib3.PoolManager:
        timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=self.home.request_seconds)
        return urllib3.PoolManager(maxsize=self.home.concurrency, retries=False, timeout=timeout)

    def check(self) -> None:
        """Wait until the server is healthy; RuntimeError when it serves another model."""
        stop = Event()
        self._request("GET", "/health", None, stop)
        served = [model.id for model in self._ask("GET", "/v1/models", None, _Models, stop).data]
        if self.home.served_model not in served:
            raise RuntimeError(f"judge server {self.home.url} serves {served}, expected {self.home.served_model!r}")

    def fits(self, item: JudgeItem) -> bool:
        """See ``Judge``; the server's tokenizer counts."""
        body = {**self._turns(item), "add_generation_prompt": True}
        return self._ask("POST", "/tokenize", body, _Tokens, Event()).count <= self.limits.input_tokens

    def judge(self, items: Sequence[JudgeItem]) -> list[JudgedItem]:
        """See ``Judge``. JudgeUnavailable when the server stays away; then no judgement of the batch is returned."""
        if not items:
            return []
        self.check()
        stop = Event()
        with ThreadPoolExecutor(min(self.home.concurrency, len(items))) as pool:
            asked = [pool.submit(self._judge_one, item, stop) for item in items]
            try:
                finished = wait(asked, return_when=FIRST_EXCEPTION).done
                for future in finished:
                    future.result()
            except BaseException:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return [future.result() for future in asked]

    def _judge_one(self, item: JudgeItem, stop: Event) -> JudgedItem:
        body = {**self._turns(item), "temperature": 0, "seed": 0, "max_tokens": self.limits.output_tokens}
        reply = self._ask("POST", "/v1/chat/completions", body, _Completion, stop)
        if reply.model != self.home.served_model or len(reply.choices) != 1:
            raise RuntimeError(
                f"judge server {self.home.url} answered with model {reply.model!r} and {len(reply.choices)} choices,"
                f" expected {self.home.served_model!r} and 1"
            )
        (choice,) = reply.choices
        return judged(choice.message.content or "", choice.finish_reason == "length", reply.usage.completion_tokens)

    def _turns(self, item: JudgeItem) -> dict[str, Any]:
        return {
            "model": self.home.served_model,
            "messages": self.style.messages(self.prompt.render(item), "math"),
            "chat_template_kwargs": self.style.template_arguments,
        }

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None, reply: type[Reply], stop: Event) -> Reply:
        """A request whose answer has the fields of ``reply``; RuntimeError shows an answer that has not."""
        answer = self._request(method, path, body, stop)
        try:
            return reply.model_validate_json(answer)
        except ValidationError as error:
            raise RuntimeError(f"judge server {self.home.url}{path} gave an answer of another form: {answer[:300]!r}") from error

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None, stop: Event) -> bytes:
        """Try until there is an answer, or the server has been silent for too long since its first failure."""
        try:
            return self._try(method, path, body)
        except _NoAnswer:
            retrying = Retrying(
                retry=retry_if_exception_type(_NoAnswer),
                wait=wait_exponential(multiplier=FIRST_PAUSE, max=LONGEST_PAUSE) + wait_random(0, FIRST_PAUSE),
                stop=stop_after_delay(self.home.restart_seconds) | stop_when_event_set(stop),
                sleep=sleep_using_event(stop),
            )
        try:
            return retrying(self._try, method, path, body)
        except RetryError as error:
            raise JudgeUnavailable(
                f"judge server {self.home.url}{path} did not answer for {self.home.restart_seconds:g} s"
                f" ({error.last_attempt.exception()}); start it again and resume"
            ) from error

    def _try(self, method: str, path: str, body: Mapping[str, Any] | None) -> bytes:
        """The body of a good answer; ``_NoAnswer`` where trying again may help, RuntimeError where the request itself is refused."""
        try:
            response = self._http.request(method, self.home.url + path, json=body)
        except urllib3.exceptions.HTTPError as error:
            raise _NoAnswer(f"{type(error).__name__}: {error}") from error
        if response.status in _TRY_AGAIN:
            raise _NoAnswer(f"status {response.status}: {response.data[:200]!r}")
        if response.status != 200:
            raise RuntimeError(f"judge server {self.home.url}{path} refused the request, status {response.status}: {response.data[:300]!r}")
        if method == "POST":
            _complete(response.data)
        return response.data


def _complete(data: bytes) -> None:
    """``_NoAnswer`` for a body that was cut off."""
    try:
        json.loads(data)
    except ValueError as error:
        raise _NoAnswer(f"an answer that is not JSON: {data[:100]!r}") from error
