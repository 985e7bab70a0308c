// zlib for Swift: its initialisers are macros.

#ifndef SILHOUETTE_CZLIB_SHIM_H
#define SILHOUETTE_CZLIB_SHIM_H

#include <zlib.h>

// Prepares raw deflate (RFC 1951): neither header nor checksum.
static inline int czlib_deflate_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
}

static inline int czlib_inflate_init(z_stream *stream) { return inflateInit2(stream, -15); }

#endif
