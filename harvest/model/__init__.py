"""
What flows through the platform, as frozen values without behaviour.

    Provider -> Description(Dataset...) -> Announcement -> Capture... -> Document -> Part... -> Snapshot -> Delta
    registry    discover                   pipeline        fetch         wash                               revise
"""

from harvest.model.downloads import CrawlLog, Download, Note
from harvest.model.exchanges import Capture, Hop, Validators, WireExchange
from harvest.model.filesets import EXISTS, Manifest, ManifestFile
from harvest.model.harvests import (
    AHEAD,
    About,
    Announcement,
    Coverage,
    Dataset,
    Delta,
    Description,
    Limits,
    Provider,
    Removals,
    Source,
)
from harvest.model.layout import Layout, ProviderLayout
from harvest.model.listings import ListedFile, Listing
from harvest.model.states import Outcome, State, Watch
from harvest.model.washing import RULES, Content, Document, Part, Problem, Snapshot, Statistics, Status, dataset_mark
from sparql.reports import Finding

__all__ = [
    "AHEAD",
    "EXISTS",
    "RULES",
    "About",
    "Announcement",
    "Capture",
    "Content",
    "Coverage",
    "CrawlLog",
    "Dataset",
    "Delta",
    "Description",
    "Document",
    "Download",
    "Finding",
    "Hop",
    "Layout",
    "Limits",
    "ListedFile",
    "Listing",
    "Manifest",
    "ManifestFile",
    "Note",
    "Outcome",
    "Part",
    "Problem",
    "Provider",
    "ProviderLayout",
    "Removals",
    "Snapshot",
    "Source",
    "State",
    "Statistics",
    "Status",
    "Validators",
    "Watch",
    "WireExchange",
    "dataset_mark",
]
