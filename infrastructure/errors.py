"""Every error a learner can meet, as one tree.

    StudyError                 one sentence that ends with the next step
    ├── UsageError             the command line or a setting is wrong (exit code 2)
    ├── HomeError              the home folder cannot be used: read-only, full, made by a newer version
    ├── DocumentError          a file cannot be read
    │   └── PasswordNeeded     ... because it is encrypted
    ├── EmbedderUnavailable    this rung of the embedding chain cannot serve
    ├── RerankerUnavailable    the cross-encoder that was named is not here, or does not work
    └── LLMUnavailable         no language model, or it failed; never stored as an answer

The message is built with `tr`, so it is already in the language of the screen. Anything else that reaches `main` is a fault
of ours and is reported as such.
"""


class StudyError(Exception):
    """Base class. `str(error)` is fit to be shown; `exit_code` is what the process ends with."""

    exit_code = 1


class UsageError(StudyError):
    exit_code = 2


class HomeError(StudyError):
    pass


class DocumentError(StudyError):
    pass


class PasswordNeeded(DocumentError):
    pass


class EmbedderUnavailable(StudyError):
    pass


class RerankerUnavailable(StudyError):
    pass


class LLMUnavailable(StudyError):
    """`reason` is one of none, auth, quota, timeout, refused, empty, cut, network, other."""

    def __init__(self, message: str, *, reason: str = "other") -> None:
        super().__init__(message)
        self.reason = reason
