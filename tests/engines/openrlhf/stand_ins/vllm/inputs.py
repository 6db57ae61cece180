"""See the package."""


class TokensPrompt(dict):
    """A prompt as token ids."""
