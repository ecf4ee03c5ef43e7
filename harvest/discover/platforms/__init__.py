"""
Platforms: repositories of datasets, each with its own way to say which files a dataset has.

Its exported names are for other packages, which write platforms with them (docs/filesets.md); its modules are private.
"""

from harvest.discover.platforms.platform import Answer, Landing, Platform, Wanted
from harvest.errors import FilesetError
from harvest.model import Manifest, ManifestFile

__all__ = ["Answer", "FilesetError", "Landing", "Manifest", "ManifestFile", "Platform", "Wanted"]
