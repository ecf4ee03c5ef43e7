"""
Documents come in from the web, whole or not at all.

    Client.get -> Exchange -> Transport -> guarded connection -> server
    download_all  |  tries, redirects       names resolved once, addresses judged
                  Body: decoded, measured, digested, in a temporary file
"""
