"""Configuration of a judge: where it runs, which model it is, and how a rectifier is trained."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ttrlab.config.settings import Frozen


class JudgeLimits(Frozen):
    """Token limits of a judge (TRUER, Table 5): prompt, output, and both together."""

    input_tokens: int = Field(4096, ge=1)
    output_tokens: int = Field(4096, ge=1)
    context_tokens: int = Field(8192, ge=2)

    @model_validator(mode="after")
    def _within_context(self) -> "JudgeLimits":
        if self.input_tokens + self.output_tokens > self.context_tokens:
            raise ValueError(
                f"input_tokens + output_tokens must be at most context_tokens, got {self.input_tokens} + {self.output_tokens}"
                f" > {self.context_tokens}"
            )
        return self


class ProcessHome(Frozen):
    """The judge runs in the adapting process, on its engine."""

    home: Literal["process"] = "process"


class ServerHome(Frozen):
    """The judge is served by an OpenAI-compatible server, e.g. vLLM.

    ``url``: without ``/v1``. ``served_model``: the name that the server knows it by. ``concurrency``: requests in flight;
    ``request_seconds``: limit of one request; ``restart_seconds``: how long a server that does not answer is waited for before the cell
    stops.
    """

    home: Literal["server"] = "server"
    url: str = Field(pattern=r"^https?://[^/]+$")
    served_model: str
    concurrency: int = Field(64, ge=1)
    request_seconds: float = Field(600, gt=0)
    restart_seconds: float = Field(900, ge=0)


class StoredHome(Frozen):
    """Judgements made earlier: a file written by the judgement cache. For replay."""

    home: Literal["stored"] = "stored"
    path: str


JudgeHome = Annotated[ProcessHome | ServerHome | StoredHome, Field(discriminator="home")]
