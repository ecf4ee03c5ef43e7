"""Repositories of datasets that a local server plays, in the shapes that their APIs have."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from typing import Any

from tests.provider import ProviderServer

PAGE = "<!doctype html><title>A dataset</title>"


def md5(body: str) -> str:
    return hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()


def put_json(server: ProviderServer, path: str, said: object, status: int = 200) -> str:
    return server.put(path, json.dumps(said), "application/json", status)


def zenodo(server: ProviderServer, number: int, files: Mapping[str, str], *, last: bool = True, **metadata: Any) -> str:
    """A record as Zenodo gives it today, and its files; returns its landing page."""
    listed = []
    for name, body in files.items():
        content = f"/api/records/{number}/files/{name}/content"
        server.put(content, body, "application/octet-stream")
        one = {"id": name, "key": name, "size": len(body.encode()), "checksum": f"md5:{md5(body)}"}
        listed.append(one | {"links": {"self": server.url + content}})
    said = {
        "id": number,
        "conceptrecid": "1",
        "doi": f"10.5281/zenodo.{number}",
        "metadata": {
            "title": "Letters",
            "access_right": "open",
            "creators": [{"name": "Doe, Jo"}],
            "license": {"id": "cc-by-4.0"},
            "relations": {"version": [{"index": 0, "is_last": last}]},
        }
        | metadata,
        "links": {
            "self_html": f"{server.url}/records/{number}",
            "latest": f"{server.url}/api/records/{number}/versions/latest",
            "files": f"{server.url}/api/records/{number}/files",
        },
        "files": listed,
    }
    put_json(server, f"/api/records/{number}", said)
    return server.put(f"/records/{number}", PAGE, "text/html")


def dataverse(server: ProviderServer, files: Mapping[str, str], version: int = 1) -> str:
    """A dataset of Dataverse, its files in folders, and their bytes; returns its landing page."""
    entries = []
    for number, (path, body) in enumerate(files.items(), 10 * version):
        server.put(f"/api/access/datafile/{number}", body, "application/octet-stream")
        folder, _, name = path.rpartition("/")
        file = {"id": number, "filename": name, "contentType": "application/octet-stream", "filesize": len(body)}
        file |= {"checksum": {"type": "SHA-1", "value": hashlib.sha1(body.encode(), usedforsecurity=False).hexdigest()}}
        entries.append({"label": name, "directoryLabel": folder, "restricted": False, "dataFile": file})
    said = {"versionNumber": version, "versionMinorNumber": 0, "versionState": "RELEASED", "files": entries}
    put_json(
        server,
        "/api/datasets/:persistentId?persistentId=doi:10.5072/FK2/A",
        {"status": "OK", "data": {"persistentUrl": "https://doi.org/10.5072/FK2/A", "latestVersion": said}},
    )
    return server.put("/dataset.xhtml?persistentId=doi:10.5072/FK2/A", PAGE, "text/html")


def figshare(server: ProviderServer, files: Mapping[str, str]) -> str:
    """An article of Figshare and its files; returns its landing page."""
    entries = []
    for number, (name, body) in enumerate(files.items(), 100):
        url = server.put(f"/ndownloader/files/{number}", body, "application/octet-stream")
        entries.append({"id": number, "name": name, "size": len(body), "download_url": url, "computed_md5": md5(body)})
    put_json(server, "/v2/articles/5", {"id": 5, "version": 1, "title": "Letters", "files": entries})
    return server.put("/articles/dataset/letters/5", PAGE, "text/html")


def dryad(server: ProviderServer, files: Mapping[str, str]) -> str:
    """A dataset of Dryad and its files; returns its landing page."""
    entries = []
    for number, (name, body) in enumerate(files.items(), 100):
        server.put(f"/api/v2/files/{number}/download", body, "application/octet-stream")
        links = {"stash:download": {"href": f"/api/v2/files/{number}/download"}}
        digest = hashlib.sha256(body.encode()).hexdigest()
        entries.append({"_links": links, "path": name, "size": len(body), "digestType": "sha-256", "digest": digest})
    version = {"versionNumber": 1, "title": "Letters", "_links": {"stash:files": {"href": "/api/v2/versions/5/files"}}}
    versions = {"_embedded": {"stash:versions": [version]}}
    put_json(server, "/api/v2/datasets/doi%3A10.5061%2Fdryad.5/versions", versions)
    put_json(server, "/api/v2/versions/5/files", {"_embedded": {"stash:files": entries}})
    return server.put("/dataset/doi:10.5061/dryad.5", PAGE, "text/html")


def dataone(server: ProviderServer, files: Mapping[str, str]) -> str:
    """A package of DataONE: its metadata is the first of its files; returns its landing page."""
    docs: list[dict[str, Any]] = []
    for number, (name, body) in enumerate(files.items()):
        identifier = f"urn:a{number}"
        url = server.put(f"/cn/v2/resolve/{identifier}", body, "application/octet-stream")
        about = {"identifier": identifier, "fileName": name, "formatType": "DATA", "formatId": "text/plain"}
        docs.append(about | {"size": len(body), "checksum": md5(body), "checksumAlgorithm": "MD5", "dataUrl": url})
    docs[0] |= {"formatType": "METADATA", "formatId": "science-on-schema.org/Dataset;ld+json", "title": "Letters"}
    named = [{"identifier": "urn:a0", "formatType": "METADATA", "resourceMap": ["map"]}]
    fields = "identifier,formatType,formatId,resourceMap,obsoletedBy"
    query, rest = "/cn/v2/query/solr/?q=", "&rows=1000&start=0&wt=json"
    put_json(server, f"{query}identifier:%22urn%3Aa0%22&fl={fields}{rest}", {"response": {"docs": named}})
    fields = "identifier,formatType,title,size,formatId,fileName,documents,checksum,checksumAlgorithm,keywords,dataUrl"
    found = {"response": {"numFound": len(docs), "docs": docs}}
    put_json(server, f"{query}resourceMap:%22map%22&fl={fields},dateUploaded{rest}", found)
    return server.put("/view/urn:a0", PAGE, "text/html")


def archiveorg(server: ProviderServer, files: Mapping[str, str]) -> str:
    """An item of archive.org, with a file that was derived from others; returns its page."""
    entries = [{"name": "letters_files.xml", "source": "metadata"}]
    for name, body in files.items():
        server.put(f"/download/letters/{name}", body, "application/octet-stream")
        entries.append({"name": name, "source": "original", "size": str(len(body)), "md5": md5(body)})
    put_json(server, "/metadata/letters", {"metadata": {"title": "Letters"}, "files": entries})
    return server.put("/details/letters", PAGE, "text/html")


def ckan(server: ProviderServer, files: Mapping[str, str]) -> str:
    """A dataset of CKAN whose resources have names without extensions; returns its page."""
    resources = []
    for name, body in files.items():
        url = server.put(f"/dataset/letters/resource/{name}/download/file", body, "application/octet-stream")
        kind = {"ttl": "TTL", "nt": "N-Triples", "csv": "CSV"}[name.rpartition(".")[2]]
        resources.append({"name": name.partition(".")[0], "url": url, "format": kind, "hash": "", "size": None})
    package = {"name": "letters", "title": "Letters", "resources": resources}
    put_json(server, "/api/3/action/package_show?id=letters", {"success": True, "result": package})
    page = '<meta name="generator" content="ckan 2.10.4"/>' + PAGE
    return server.put("/dataset/letters", page, "text/html")


def schemaorg(server: ProviderServer, files: Mapping[str, str]) -> str:
    """A page with JSON-LD of schema.org; returns its address."""
    kinds = {"ttl": "text/turtle", "nt": "application/n-triples", "csv": "text/csv"}
    found = [
        {"@type": "DataDownload", "contentUrl": server.put(f"/data/{name}", body, "application/octet-stream")}
        | {"encodingFormat": kinds[name.rpartition(".")[2]], "sha256": hashlib.sha256(body.encode()).hexdigest()}
        for name, body in files.items()
    ]
    said = {"@context": "https://schema.org/", "@type": "Dataset", "name": "Letters", "distribution": found}
    page = f'{PAGE}<script type="application/ld+json">{json.dumps(said)}</script>'
    return server.put("/letters", page, "text/html")


def dcat(server: ProviderServer, files: Mapping[str, str]) -> str:
    """A page with JSON-LD of DCAT whose distributions are referred to; returns its address."""
    graph: list[dict[str, Any]] = []
    for name, body in files.items():
        url = server.put(f"/data/{name}", body, "application/octet-stream")
        checksum = {"spdx:algorithm": {"@id": "spdx:checksumAlgorithm_md5"}, "spdx:checksumValue": md5(body)}
        graph.append({"@id": f"#{name}", "@type": "dcat:Distribution", "dcat:downloadURL": {"@id": url}})
        graph[-1]["spdx:checksum"] = checksum
    said = {"@type": "dcat:Dataset", "dct:title": "Letters", "dcat:distribution": [{"@id": f"#{n}"} for n in files]}
    page = f'<script type="application/ld+json">{json.dumps({"@graph": [*graph, said]})}</script>'
    return server.put("/letters", page, "text/html")


def signposting(server: ProviderServer, files: Mapping[str, str]) -> str:
    """A page whose Link header names its files; returns its address."""
    kinds = {"ttl": "text/turtle", "nt": "application/n-triples", "csv": "text/csv"}
    urls = {server.put(f"/data/{name}", body, "application/octet-stream"): name for name, body in files.items()}
    items = [f'<{url}>; rel="item"; type="{kinds[name.rpartition(".")[2]]}"' for url, name in urls.items()]
    server.links["/letters"] = ", ".join(items)
    return server.put("/letters", PAGE, "text/html")


def bundled(server: ProviderServer, files: Mapping[str, str], body: bytes, **more: Any) -> str:
    """A record whose files have no addresses, and the archive of all of them; returns its landing page."""
    page = zenodo(server, 7, files, **more)
    said = json.loads(server.pages["/api/records/7"].body)
    for file in said["files"]:
        del file["links"]
    said["links"]["archive"] = server.put("/api/records/7/files-archive", body, "application/zip")
    server.put("/api/records/7", json.dumps(said), "application/json")
    return page


def zipped(files: Mapping[str, str], folder: str = "") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in files.items():
            archive.writestr(folder + name, body)
    return out.getvalue()


def tarred(files: Mapping[str, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, body in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(body)
            archive.addfile(entry, io.BytesIO(body.encode()))
    return out.getvalue()
