"""Downloads one file whose checksum is known."""

import hashlib
import http.client
import ipaddress
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from .errors import ConversionError

MAX_BYTES = 256 << 20
PIECE = 1 << 16


def download(url: str, sha256: str, timeout: float = 30, deadline: float = 600, max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes at the address, if they are the expected ones.

    Only https is spoken, through redirects too; plain http with this machine alone. Raises ConversionError.

    - timeout: seconds that the server may be silent
    - deadline: seconds for everything
    """
    check_scheme(url)
    opener = urllib.request.build_opener(CheckedRedirects)
    request = urllib.request.Request(url, headers={"User-Agent": "silhouette-fetch"})
    try:
        with opener.open(request, timeout=timeout) as response:
            data = read_all(response, url, time.monotonic() + deadline, max_bytes)
    except urllib.error.HTTPError as error:
        raise ConversionError(f"{url}: the server answers {error.code} {one_line(error.reason)}") from None
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, TimeoutError):
            raise ConversionError(f"{url}: no answer within {timeout:g} s") from None
        raise ConversionError(
            f"{url}: not reachable ({one_line(getattr(reason, 'strerror', None) or reason)})"
        ) from None
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ConversionError(f"{url}: wrong content, SHA-256 {found}, expected {sha256}")
    return data


def read_all(response, url, end, max_bytes):
    """The whole answer, within the limits."""
    stated = response.headers.get("Content-Length", "")
    length = int(stated) if stated.isascii() and stated.isdigit() else 0
    if length > max_bytes:
        raise ConversionError(f"{url}: {length} bytes are more than the {max_bytes} that are allowed")
    pieces, count = [], 0
    while piece := response.read1(PIECE):
        pieces.append(piece)
        count += len(piece)
        if count > max_bytes:
            raise ConversionError(f"{url}: more than the {max_bytes} bytes that are allowed")
        if time.monotonic() > end:
            raise ConversionError(f"{url}: too slow, {count} bytes until the deadline")
        if sys.stderr.isatty():
            print(f"\r{count >> 10} of {max(length, count) >> 10} KiB", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if count < length:
        raise ConversionError(f"{url}: the connection broke after {count} of {length} bytes")
    return b"".join(pieces)


def one_line(text):
    """The text without line breaks and other characters that a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in str(text)).strip()[:200]


def check_scheme(url):
    """Refuses what is not https, unless it stays on this machine."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname)):
        return
    raise ConversionError(f"{url}: only https addresses are allowed")


def is_loopback(host):
    try:
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


class CheckedRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to allowed addresses only, and never from the network to this machine."""

    max_redirections = 5

    def redirect_request(self, request, file, code, message, headers, target):
        check_scheme(target)
        if is_loopback(urllib.parse.urlsplit(target).hostname) and not is_loopback(request.host.rpartition(":")[0]):
            raise ConversionError(f"{request.full_url}: redirects to {target}, which is not allowed")
        return super().redirect_request(request, file, code, message, headers, target)
