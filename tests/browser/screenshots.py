"""
The pictures of the README: `make screenshots` takes them of a real instance, harvested from made-up providers.

Names, dates and addresses are the same each time, for the front takes it to be the hour of the last harvest. What
is drawn differs with the fonts of the machine, and in how long things took.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from urllib.parse import quote, urlsplit

from playwright.sync_api import Browser, Page, Route, sync_playwright

from harvest.service.log import quiet_log
from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.browser.instance import SHIP, Place, running
from tests.browser.releases import START

ADDRESS = "http://harvest.example"
"""What the instance calls itself; the browser gets its address by an argument."""

PROVIDERS = 8091
"""Port of the providers, which the pages show."""

NOW = START + timedelta(weeks=10, hours=1, minutes=25)

FROZEN = f"""
import datetime

class Frozen(datetime.datetime):
    __module__, __qualname__ = "datetime", "datetime"

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp({NOW.timestamp()}, tz)

datetime.datetime = Frozen
"""
"""A `sitecustomize` module, which Python imports as it starts: the clock of the front's processes."""

MOST_BYTES = 200_000
MOST_BYTES_IN_ALL = 1_000_000

QUERY = """\
PREFIX fleet: <http://fleet.example/terms#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>

SELECT ?ship ?name ?built ?length WHERE {
  ?ship a fleet:Ship ; rdfs:label ?name ;
    fleet:built ?built ; fleet:length ?length
  FILTER (lang(?name) = "en")
} ORDER BY ?built
"""


def _asked(page: Page) -> None:
    """Have the query answered, and see the result below it."""
    page.get_by_role("button", name="Run query").click()
    page.get_by_text("Albatross").first.wait_for()
    page.wait_for_load_state("networkidle")
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 230); }")


def _seen(page: Page) -> None:
    page.wait_for_load_state("networkidle")


@dataclass(frozen=True, slots=True)
class Picture:
    """
    A picture.

    Attributes:
        name: Of its file, without `.png`.
        address: What is shown.
        prepare: What is done before it is taken.
        colours: `light` or `dark`.
        height: In pixels; the width is 1280.
    """

    name: str
    address: str
    prepare: Callable[[Page], None] = _seen
    colours: Literal["light", "dark"] = "light"
    height: int = 800


PICTURES = (
    Picture("dashboard", "/", height=1080),
    Picture("dashboard-dark", "/", colours="dark", height=1080),
    Picture("provider", "/providers/fleet"),
    Picture("version", "/providers/fleet/versions/7#changes"),
    Picture("query", f"/sparql?query={quote(QUERY)}", _asked),
    Picture("entity", f"/entity?iri={quote(SHIP)}"),
)


def main(folder: Path) -> None:
    """Take all pictures, into a folder."""
    if not CHROMIUM.is_file():
        sys.exit(f"{CHROMIUM} is not there; on Debian: apt-get install chromium")
    quiet_log()
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="screenshots-") as made:
        _stop_clocks(Path(made) / "clock")
        place = Path(made) / "instance"
        place.mkdir()
        with running(Place(place, ADDRESS, PROVIDERS, buoys=False)) as settings:
            _take(folder, settings.bind)
    _weigh([folder / f"{picture.name}.png" for picture in PICTURES])


def _stop_clocks(folder: Path) -> None:
    """Have the Python processes that are started from now on stand still in time."""
    folder.mkdir()
    folder.joinpath("sitecustomize.py").write_text(FROZEN, "utf-8")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])


def _take(folder: Path, bind: str) -> None:
    host = urlsplit(ADDRESS).hostname
    rules = f"--host-resolver-rules=MAP {host}:80 {bind} , MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
    plain = [argument for argument in ARGUMENTS if not argument.startswith("--host-resolver-rules")]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*plain, rules])
        for picture in PICTURES:
            _take_one(browser, picture, folder / f"{picture.name}.png")
        browser.close()


def _take_one(browser: Browser, picture: Picture, file: Path) -> None:
    context = browser.new_context(
        base_url=ADDRESS,
        viewport={"width": 1280, "height": picture.height},
        device_scale_factor=1,
        color_scheme=picture.colours,
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    context.route("**/*", _route)
    page = context.new_page()
    answer = page.goto(picture.address)
    if answer is None or answer.status != 200:
        sys.exit(f"{picture.address} answered {answer and answer.status}, so there is no picture of it")
    picture.prepare(page)
    page.mouse.move(0, 0)
    page.screenshot(path=file, animations="disabled", caret="hide")
    context.close()


def _route(route: Route) -> None:
    if urlsplit(route.request.url).hostname == urlsplit(ADDRESS).hostname:
        route.continue_()
    else:
        sys.exit(f"a page asks for {route.request.url}; pictures are taken without the network")


def _weigh(files: list[Path]) -> None:
    """Print the sizes of pictures, and exit where they are too large: pictures are part of each clone."""
    sizes = {file: file.stat().st_size for file in files}
    for file, size in sizes.items():
        print(f"{size / 1000:6.0f} kB  {file}")
    heavy = [file.name for file, size in sizes.items() if size > MOST_BYTES]
    if heavy or sum(sizes.values()) > MOST_BYTES_IN_ALL:
        sys.exit(f"too large: {', '.join(heavy) or 'all together'}; a picture has 200 kB at most, all together 1 MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
