"""What can be asked for the files of an instance: to prove them, to mend them, to make them again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harvest.errors import UnknownName
from harvest.model import Finding
from harvest.pipeline import exporting
from harvest.pipeline.compacting import Compacted, compact
from harvest.pipeline.exporting import Alone
from harvest.pipeline.feeding import feed
from harvest.pipeline.following.replica import Following
from harvest.pipeline.harvest.recovery import recover
from harvest.pipeline.instance import Instance
from harvest.pipeline.rebuild import drift
from harvest.pipeline.rebuild.mend import Mended, mend, recapture_all
from harvest.pipeline.rebuild.prove import Proof, prove
from harvest.pipeline.rebuild.prove_instance import prove_instance
from harvest.pipeline.rebuild.rebuild import Rebuilt, rebuild
from harvest.publish import checksums
from harvest.publish.exports import trusted_index
from harvest.publish.resourcesync.feed import damages


class Maintenance:
    """
    The files of an instance; `alone` keeps a provider from being harvested meanwhile.

    Attributes:
        following: Keeps them those of its origin, where the instance is a replica.
    """

    def __init__(self, instance: Instance, alone: Alone) -> None:
        self.instance = instance
        self._alone = alone
        self.following = Following(instance, alone)

    def prove(self, name: str) -> list[Proof]:
        """Check the files of one provider; what is damaged is a finding of it."""
        with self.instance.exporting, self._alone(name), self.instance.writing:
            record = self.instance.ledger.provider(name)
            if record is None:
                raise UnknownName(f"no provider {name} was ever harvested here")
            proofs = prove(self.instance, record)
            bad = [Finding("damage", each.detail, each.file, fatal=True) for each in proofs if not each.holds]
            self.instance.ledger.damages.set(name, bad)
            return proofs

    def prove_all(self) -> list[Proof]:
        """Check the files of all providers, and what belongs to none of them alone."""
        proofs = [proof for record in self.instance.ledger.providers() for proof in self.prove(record.name)]
        with self.instance.exporting, self.instance.writing:
            return proofs + prove_instance(self.instance)

    def prove_store(self, names: Sequence[str], sample: int, *, repair: bool) -> list[Proof]:
        """
        Compare the store with the versions of these providers, or of all; see `harvest.pipeline.rebuild.drift`.

        Raises:
            UnknownName: A provider was never harvested here.
        """
        proofs = []
        for name in names or [record.name for record in self.instance.ledger.providers()]:
            with self._alone(name), self.instance.writing:
                record = self.instance.ledger.provider(name)
                if record is None:
                    raise UnknownName(f"no provider {name} was ever harvested here")
                proofs.append(drift.compare(self.instance, record, sample, repair=repair))
        if not names:
            with self.instance.writing:
                proofs.extend(drift.left_over(self.instance, repair=repair))
        return proofs

    def mend(self) -> list[Mended]:
        """Mend all that is damaged; returns what was, and whether it still is."""
        with self.instance.crawl.working():
            return mend(self.instance, self._alone, self.prove_all)

    def rebuild(self, name: str, *, check: bool) -> list[Rebuilt]:
        """Make a provider's versions again, and put them in place with their export unless `check`."""
        with self._alone(name), self.instance.crawl.working():
            if not check:
                recapture_all(self.instance, name)
            made = rebuild(self.instance, name, check=check)
        if not check and all(version.same for version in made):
            self.instance.ledger.damages.set(name, [])
            self._mend_export(name)
            self._mend_feed(name)
        return made

    def compact(self, name: str, keep: int) -> Compacted:
        """Keep the newest `keep` versions of a provider; see `harvest.pipeline.compacting`."""
        with self._alone(name), self.instance.crawl.working(), self.instance.writing:
            recover(self.instance, name)
            return compact(self.instance, name, keep)

    def _mend_export(self, name: str) -> None:
        folder = self.instance.settings.exports_dir
        with self.instance.exporting:
            entry = trusted_index(folder).get(name)
            damaged = list(checksums.damages(folder / entry.file, entry.sha256)) if entry else []
            for error in damaged:
                Path(str(error.url)).unlink(missing_ok=True)
            if damaged:
                exporting.export(self.instance, self._alone)

    def _mend_feed(self, name: str) -> None:
        """Write the feed of a provider anew where a file of it is damaged: its dataset is a link to the snapshot."""
        with self._alone(name):
            for error in list(damages(self.instance.settings.layout.feed(name))):
                Path(str(error.url)).unlink(missing_ok=True)
            feed(self.instance, name)
