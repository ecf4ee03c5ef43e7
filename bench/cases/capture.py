"""The files of a dataset are captured: downloaded, filed under their digests and written to WARC, beside `wget`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Final

from bench.data import Recipe
from bench.errors import Disagreement
from bench.ground import Ground
from bench.instance import Instance
from bench.measure import Sample, clocked, interleaved
from bench.provider import provider
from bench.table import Row, Target, compared
from harvest.config.loader import load_settings
from harvest.pipeline import Harvester, opened

TARGET: Final = Target(1.25, "slower")
"""0.8 of its speed."""

FILES: Final = 200
SIZE: Final = 1 << 20


def run(ground: Ground) -> Iterator[Row]:
    """A row with WARC files, and one without."""
    source = ground.source(Recipe(ground.scale.triples))
    ground.say(f"capturing {FILES} files of 1 MB")
    with ExitStack() as stack:
        room: Path = stack.enter_context(ground.room("capture"))
        served = stack.enter_context(provider(room / "served"))
        content, editions = source.read_bytes(), count(1)
        instances = {name: _opened(room / name, name == "warc", stack) for name in ("warc", "filed")}

        def published() -> list[str]:
            """New bytes at new addresses, so that none is filed already."""
            edition = next(editions)
            for n in range(FILES):
                at = (n * SIZE) % (len(content) - SIZE)
                text = b"# %d %d\n" % (edition, n) + content[at : at + SIZE]
                (served.folder / f"{edition}-{n}.nt").write_bytes(text)
            return [f"{served.url}/{edition}-{n}.nt" for n in range(FILES)]

        def ours(name: str) -> Sample:
            instance, urls = instances[name].harvester.instance, published()
            with clocked() as sample:
                found = instance.crawl.download_all(urls)
            _check(sum(each.capture.length for each in found), urls, served.folder)
            return sample

        def theirs(*options: str) -> Sample:
            urls, into = published(), room / "wget"
            shutil.rmtree(into, ignore_errors=True)
            parallel = str(instances["warc"].settings.http.per_host)
            words = ["wget", "--quiet", "--directory-prefix", str(into), *options]
            if not options:  # of one WARC file there is one writer
                words = ["xargs", "-P", parallel, "-n", "25", *words]
            with clocked() as sample:
                subprocess.run([*words, *(urls if options else ())], input="\n".join(urls), text=True, check=True)
            _check(sum(path.stat().st_size for path in into.iterdir()), urls, served.folder)
            return sample

        runs = {"warc": lambda: ours("warc"), "filed": lambda: ours("filed"), "peer": theirs}
        runs["packed"] = lambda: theirs(f"--warc-file={room}/peer")
        series = interleaved(runs, ground.scale.runs)
    what = f"{FILES} files of 1 MB; `wget`, as many at once, as peer"
    yield compared("capture with WARC", what, series["warc"], series["peer"], TARGET)
    yield compared("capture", what, series["filed"], series["peer"], None)
    what = f"{FILES} files of 1 MB; `wget --warc-file` as peer"
    yield compared("capture with WARC", what, series["warc"], series["packed"], None)


def _opened(folder: Path, warc: bool, stack: ExitStack) -> Instance:
    folder.mkdir()
    (folder / "registry.yaml").write_text("{}\n")
    file = folder / "harvest.yaml"
    file.write_text(
        "base_url: http://h.example\nregistry: registry.yaml\ndata_dir: var\nexports_dir: exports\n"
        f"warc: {str(warc).lower()}\nhttp:\n  allow_loopback: true\n"
    )
    settings = load_settings(file, {})
    return Instance(settings, Harvester(stack.enter_context(opened(settings))))


def _check(found: int, urls: list[str], folder: Path) -> None:
    due = sum((folder / url.rpartition("/")[2]).stat().st_size for url in urls)
    if found != due:
        raise Disagreement(f"{found:,} bytes were captured of {due:,}")
