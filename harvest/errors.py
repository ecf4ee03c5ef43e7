"""
The error tree of the harvesting side.

    HarvestError
    ├── SettingsError        harvest.yaml or an environment variable is wrong         permanent
    ├── RegistryError        registry.yaml is wrong; carries file, line, column       permanent
    ├── DescriptionError     a provider's description cannot be used                  permanent
    │   └── FilesetError     a landing page leads to no fileset; its kind says why    permanent
    ├── FetchError           a request was not answered with a whole body
    │   ├── RefusedError     an address, redirect or size that the settings forbid    permanent
    │   │   └── BodyTooLargeError  a body of more bytes than they allow               permanent
    │   ├── StatusError      a status other than 2xx or 304                           by status
    │   ├── TransferError    connection, time-out or truncated body                   retriable
    │   │   └── TooSlowError less than the settings ask for came in a time            retriable
    │   ├── MismatchError    bytes that are not those that their list promises        retriable
    │   └── RobotsError      the site's robots.txt forbids it, or cannot be had       by reason
    ├── WashError            a dump cannot be turned into a snapshot                  permanent
    │   ├── WashTimeout      washing went past its time or memory limit               permanent
    │   ├── WashCrash        the washing process died                                 permanent
    │   └── ContextWanted    a remote JSON-LD context that has to be fetched first    retriable
    ├── ClusterError         the workers that the settings name are away               retriable
    ├── MisfitError          a change that does not fit the graph as it is            permanent
    ├── LedgerError          the ledger cannot be opened or migrated                  permanent
    │   └── LedgerDamage     it is damaged or gone                                    permanent
    ├── BusyError            another process holds the data directory                 retriable
    ├── StorageError         the disk is full, read-only or damaged                   retriable
    │   └── DamageError      a filed file is damaged or gone                          permanent
    ├── StoppedError         the instance is shutting down; nothing was lost          retriable
    └── UnknownName          a provider or version that does not exist                permanent

A message says what happened, to which URL or file, with figures, and what to do. `retriable` says whether the
same call may succeed later without anybody changing anything.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harvest.model import Hop


class HarvestError(Exception):
    """
    Something the harvesting side could not do.

    Attributes:
        message: One sentence for people: what, where, what to do.
        url: The URL or file it happened to, when there is one.
        line: Line in that document, from 1.
        column: Column in that line, from 1.
        excerpt: The text around the place, as found.
        retriable: Whether the same call may succeed later by itself.
    """

    retriable = False

    def __init__(
        self,
        message: str,
        *,
        url: str | None = None,
        line: int | None = None,
        column: int | None = None,
        excerpt: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.url = url
        self.line = line
        self.column = column
        self.excerpt = excerpt

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross from the washing process to the harvesting one by pickling."""
        return (_revive, (type(self), dict(self.__dict__)))

    @property
    def kind(self) -> str:
        """The finding kind: the class name in kebab-case, without `Error`."""
        name = type(self).__name__.removesuffix("Error")
        return "".join(("-" if i and c.isupper() else "") + c.lower() for i, c in enumerate(name))


def unusable(error: OSError, where: object = None) -> str:
    """
    What an error of the operating system says to people: what happened, to which file, and what to do.

    `where` is named in place of a file that the error does not name.
    """
    place = error.filename or where
    reason = error.strerror or str(error) or type(error).__name__
    advice = _ADVICE.get(error.errno or 0, "see to the disk and to the owner of the files")
    return f"{place}: {reason}; {advice}" if place else f"{reason}; {advice}"


_ADVICE = {
    errno.ENOSPC: "the disk is full: make room",
    errno.EDQUOT: "the quota of the disk is used up: make room",
    errno.EROFS: "the disk can only be read",
    errno.EIO: "the disk is damaged",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`)",
    errno.ENFILE: "the machine has too many open files",
    errno.EACCES: "run the command as the owner of the files",
    errno.EPERM: "run the command as the owner of the files",
    errno.ENOTDIR: "a file stands where a folder should be",
    errno.ENOMEM: "the machine is out of memory",
    errno.EAGAIN: "the machine is out of processes or threads",
}


def _revive(kind: type[HarvestError], attributes: dict[str, object]) -> HarvestError:
    """The error that was pickled, whatever its constructor takes."""
    error = kind.__new__(kind)
    Exception.__init__(error, attributes["message"])
    error.__dict__.update(attributes)
    return error


def bare(error: HarvestError) -> HarvestError:
    """
    The error without traceback, cause and context, to be sent to another process.

    Where tblib is imported, as dask.distributed does, these are pickled, too, and may be nested too deep for that.
    """
    return _revive(type(error), dict(error.__dict__))


class SettingsError(HarvestError):
    """A setting that cannot be used."""


class RegistryError(HarvestError):
    """A registry that cannot be used; `url` is the file."""


class DescriptionError(HarvestError):
    """A provider's description that cannot be read."""


class FilesetError(DescriptionError):
    """
    A landing page that leads to no fileset.

    Attributes:
        status: Why, as the result of an ingest has it, such as platform-scope.

    Source: fileset ingest document, "Limits and Failure Modes".
    """

    def __init__(self, status: str, message: str, *, url: str | None = None) -> None:
        super().__init__(message, url=url)
        self.status = status

    @property
    def kind(self) -> str:
        """The status."""
        return self.status


class FetchError(HarvestError):
    """
    A request that was not answered with a whole body.

    Attributes:
        http: What was answered up to then.
        asked: The URL as it was asked for; `url` is where it failed, which may be that of a redirect.
    """

    http: tuple[Hop, ...] = ()
    asked: str | None = None


class RefusedError(FetchError):
    """An address, redirect, scheme or size that the settings forbid."""


class BodyTooLargeError(RefusedError):
    """A body of more bytes than the settings allow; its finding is `refused`, as of all that they forbid."""

    @property
    def kind(self) -> str:
        """As of its parent."""
        return "refused"


class StatusError(FetchError):
    """
    An answer with a status other than 2xx or 304.

    Attributes:
        status: The HTTP status code.
    """

    def __init__(self, message: str, *, url: str, status: int) -> None:
        super().__init__(message, url=url)
        self.status = status
        self.retriable = status in (408, 425, 429) or status >= 500


class TransferError(FetchError):
    """A connection that failed, was too slow, or ended before the body did; an answer with a broken framing."""

    retriable = True


class TooSlowError(TransferError):
    """A transfer that brought less than `http.min_rate`; asking again at once would only take as long."""


class MismatchError(FetchError):
    """A file whose length or hash is not what the list that names it says; its provider mends one of the two."""

    retriable = True


class RobotsError(FetchError):
    """A request that was not sent: the site's robots.txt forbids it (permanent), or cannot be had (retriable)."""

    def __init__(self, message: str, *, url: str, retriable: bool) -> None:
        super().__init__(message, url=url)
        self.retriable = retriable


class WashError(HarvestError):
    """A dump that cannot be turned into a snapshot."""


class WashTimeout(WashError):
    """Washing that went past its time or memory limit."""


class WashCrash(WashError):
    """A washing process that died without an answer."""


class ContextWanted(WashError):
    """
    A document that needs a remote JSON-LD context; `url` is the context. Fetch it, and wash again.

    Source: JSON-LD 1.1 Processing Algorithms and API, section 9.4 (LoadDocumentCallback).
    """

    retriable = True


class ClusterError(HarvestError):
    """A cluster that should wash a document and does not answer, or has no workers; it is asked again later."""

    retriable = True


class MisfitError(HarvestError):
    """A change that somebody sent and that does not fit the graph as it is."""


class LedgerError(HarvestError):
    """A ledger that cannot be opened or migrated."""


class LedgerDamage(LedgerError):
    """A ledger that is damaged or gone; `harvest rebuild` makes it again."""


class BusyError(HarvestError):
    """Another process works on the data directory."""

    retriable = True


class StorageError(HarvestError):
    """A disk that is full, read-only or damaged."""

    retriable = True


class DamageError(StorageError):
    """A filed file that is damaged or gone; `url` is the file. `harvest rebuild` mends it."""

    retriable = False


class UnknownName(HarvestError):
    """A provider or version that does not exist."""


class StoppedError(HarvestError):
    """A step that was given up because the instance is shutting down; it is taken up again at the next start."""

    retriable = True
