// libwebsockets for Swift: macros, and structs that are easier to fill in C.

#ifndef SILHOUETTE_CWEBSOCKETS_SHIM_H
#define SILHOUETTE_CWEBSOCKETS_SHIM_H

#include <libwebsockets.h>
#include <malloc.h>
#include <string.h>

// A GNU function, which headers hide from Swift.
extern int accept4(int, struct sockaddr *, socklen_t *, int);

// Has freed memory go back to the system. The GNU C library would raise its bounds with each large block that is freed, up to
// 32 MiB, and then keep so much and more: after 256 MiB of messages had come and gone, 30 to 60 MB stayed. Bounds that are set
// stay as they are.
static inline void cws_return_freed_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
}

// Bytes that must be free before everything that is written.
static inline size_t cws_padding(void) { return LWS_PRE; }

typedef struct {
    // Two protocols: the connections', the listening socket's; then one of zeros. They outlive the context.
    const struct lws_protocols *protocols;
    // What lws_context_user() gives.
    void *user;
    // Connections at once.
    unsigned int connection_limit;
    // PEM files; NULL without TLS.
    const char *certificate;
    const char *key;
} cws_options;

// A context without a listening socket: whoever owns it adopts the sockets that it accepts. NULL where it fails; the
// log says why.
static inline struct lws_context *cws_create(const cws_options *options) {
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof(info));
    info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
    info.protocols = options->protocols;
    info.user = options->user;
    info.gid = (gid_t)-1;
    info.uid = (uid_t)-1;
    // Each connection has two descriptors at most; some are the context's own.
    info.fd_limit_per_thread = options->connection_limit + 32;
    info.pt_serv_buf_size = 1 << 16;
    info.timeout_secs = 30;
    info.keepalive_timeout = 30;
    // The host in a step of its own: where lws_create_context makes it, one that cannot be made leaves memory behind.
    info.options |= LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
    // It always prepares to be a client too, which nothing here is: at least without reading the system's authorities.
    if (options->certificate) info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS;
    struct lws_context *context = lws_create_context(&info);
    if (!context) return NULL;
    info.vhost_name = "silhouette";
    info.alpn = "http/1.1";
    info.ssl_cert_filepath = options->certificate;
    info.ssl_private_key_filepath = options->key;
    if (!lws_create_vhost(context, &info)) {
        lws_context_destroy(context);
        return NULL;
    }
    return context;
}

// Takes over a connected socket as a stream of bytes, over TLS where the context has a certificate: its protocol's callback
// gets LWS_CALLBACK_RAW_RX, LWS_CALLBACK_RAW_WRITEABLE and, at its end, LWS_CALLBACK_WSI_DESTROY.
static inline struct lws *cws_adopt_connection(struct lws_vhost *host, int descriptor, const char *protocol, int uses_tls) {
    lws_sock_file_fd_type fd;
    memset(&fd, 0, sizeof(fd));
    fd.sockfd = descriptor;
    return lws_adopt_descriptor_vhost(
        host, LWS_ADOPT_SOCKET | (uses_tls ? LWS_ADOPT_ALLOW_SSL : 0), fd, protocol, NULL);
}

// Writes bytes of a stream, which have cws_padding() bytes of room before them: what the system does not take at once is copied,
// and the next LWS_CALLBACK_RAW_WRITEABLE comes when it is gone. Negative: the connection is broken.
static inline int cws_write(struct lws *wsi, unsigned char *bytes, size_t count) {
    return lws_write(wsi, bytes, count, LWS_WRITE_RAW);
}

// What a WebSocket's handshake is answered with: the SHA-1 of the challenge in base64, 28 characters and a zero.
static inline void cws_accept_key(const char *challenge, char *result) {
    unsigned char digest[20];
    lws_SHA1((const unsigned char *)challenge, strlen(challenge), digest);
    char text[32];  // as much as libwebsockets wants for 28 characters
    lws_b64_encode_string((const char *)digest, sizeof(digest), text, sizeof(text));
    memcpy(result, text, 28);
    result[28] = 0;
}

// Watches a listening socket: its protocol's callback gets LWS_CALLBACK_RAW_RX_FILE when somebody connects.
static inline struct lws *cws_adopt_listener(struct lws_vhost *host, int descriptor, const char *protocol) {
    lws_sock_file_fd_type fd;
    memset(&fd, 0, sizeof(fd));
    fd.filefd = descriptor;
    return lws_adopt_descriptor_vhost(host, LWS_ADOPT_RAW_FILE_DESC, fd, protocol, NULL);
}

#endif
