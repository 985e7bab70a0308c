// libpng for Swift.
//
// libpng reports an error by longjmp, and a jump must never cross a Swift frame. So Swift calls none of libpng's
// functions: it calls the functions below. Each arms a jump of its own, calls libpng, and returns 0 with a message
// when libpng jumped. The callbacks are C too. What a function needs after a jump lives in a struct on the heap or
// with the caller, because a local variable changed after setjmp is indeterminate then.

#ifndef SILHOUETTE_CPNG_SHIM_H
#define SILHOUETTE_CPNG_SHIM_H

#include <png.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CPNG_MESSAGE_CAPACITY 160

static inline void cpng_copy_message(char *to, const char *from) {
    strncpy(to, from, CPNG_MESSAGE_CAPACITY - 1);
    to[CPNG_MESSAGE_CAPACITY - 1] = 0;
}

// Reading.

typedef struct {
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t byteCount;
    size_t position;
    // Set once libpng asked for more bytes than there are.
    int truncated;
    char error[CPNG_MESSAGE_CAPACITY];
    // libpng's first warning, empty without one.
    char warning[CPNG_MESSAGE_CAPACITY];
    uint32_t width;
    uint32_t height;
    // Bytes of a pixel as cpng_read_pixels() writes it: 3 or 4, or 1 for indices.
    uint32_t channelCount;
    int passCount;
} cpng_reader;

static inline void cpng_on_read_error(png_structp png, png_const_charp message) {
    cpng_copy_message(((cpng_reader *)png_get_error_ptr(png))->error, message);
    png_longjmp(png, 1);
}

static inline void cpng_on_read_warning(png_structp png, png_const_charp message) {
    cpng_reader *reader = (cpng_reader *)png_get_error_ptr(png);
    if (reader->warning[0] == 0) cpng_copy_message(reader->warning, message);
}

static inline void cpng_on_read(png_structp png, png_bytep to, size_t count) {
    cpng_reader *reader = (cpng_reader *)png_get_io_ptr(png);
    if (count > reader->byteCount - reader->position) {
        reader->truncated = 1;
        png_error(png, "the file ends too early");
    }
    memcpy(to, reader->bytes + reader->position, count);
    reader->position += count;
}

// Prepares to read a PNG file in memory; the bytes must outlive the reader. NULL without memory.
static inline __attribute__((noinline)) cpng_reader *cpng_reader_create(const uint8_t *bytes, size_t byteCount) {
    cpng_reader *reader = (cpng_reader *)calloc(1, sizeof(cpng_reader));
    if (!reader) return NULL;
    reader->bytes = bytes;
    reader->byteCount = byteCount;
    reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, cpng_on_read_error, cpng_on_read_warning);
    if (reader->png) reader->info = png_create_info_struct(reader->png);
    if (!reader->info) {
        png_destroy_read_struct(&reader->png, NULL, NULL);
        free(reader);
        return NULL;
    }
    return reader;
}

static inline void cpng_reader_destroy(cpng_reader *reader) {
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
    free(reader);
}

// Reads everything before the picture and fixes the pixel layout: RGB, or RGBA where the file has any transparency;
// with `asIndices`, the palette index or the gray level as stored, one byte a pixel.
//
// Colour space chunks and text are skipped unread, so no gamma is applied and nothing is expanded; a wrong checksum
// is an error in any chunk; 16 bits become 8 by dropping the low byte.
static inline __attribute__((noinline)) int cpng_read_header(cpng_reader *reader, int asIndices) {
    // Chunk names, five bytes each with the closing zero. All that stays known is IHDR, PLTE, tRNS, IDAT and IEND.
    static const png_byte skipped[] = "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0"
                                      "sPLT\0sRGB\0sTER\0tEXt\0tIME\0zTXt";
    png_structp png = reader->png;
    png_infop info = reader->info;
    if (setjmp(png_jmpbuf(png))) return 0;

    png_set_read_fn(png, reader, cpng_on_read);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, skipped, (int)(sizeof(skipped) / 5));
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    // The caller has checked the size against limits of its own.
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(png, info);

    int colorType = png_get_color_type(png, info);
    if (asIndices) {
        if (colorType != PNG_COLOR_TYPE_PALETTE && colorType != PNG_COLOR_TYPE_GRAY)
            png_error(png, "it holds colours where class indices are expected");
        png_set_packing(png);
        png_set_strip_16(png);
    } else {
        png_set_expand(png);
        png_set_strip_16(png);
        png_set_gray_to_rgb(png);
    }
    reader->passCount = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    reader->width = png_get_image_width(png, info);
    reader->height = png_get_image_height(png, info);
    reader->channelCount = png_get_channels(png, info);
    if (png_get_rowbytes(png, info) != (size_t)reader->width * reader->channelCount)
        png_error(png, "unexpected row size");
    return 1;
}

// Reads all pixels, and the rest of the file behind them so that its checksums are checked too.
static inline __attribute__((noinline)) int cpng_read_pixels(cpng_reader *reader, uint8_t *pixels, size_t rowStride) {
    if (setjmp(png_jmpbuf(reader->png))) return 0;
    for (int pass = 0; pass < reader->passCount; pass++)
        for (uint32_t y = 0; y < reader->height; y++) png_read_row(reader->png, pixels + y * rowStride, NULL);
    png_read_end(reader->png, NULL);
    return 1;
}

// Writing.

// A picture to encode: 8 bits a channel, or indices into `palette`.
typedef struct {
    const uint8_t *pixels;
    size_t rowStride;
    uint32_t width;
    uint32_t height;
    // PNG_COLOR_TYPE_...
    int colorType;
    // Red, green, blue, `paletteCount` times; unused without palette.
    const uint8_t *palette;
    int paletteCount;
    // Opacity of the first `alphaCount` palette entries.
    const uint8_t *alpha;
    int alphaCount;
    // PNG_FILTER_... flags.
    int filters;
    // Whether the pixels have blue first.
    int isBGR;
} cpng_picture;

// The encoded file; `bytes` is the caller's to free().
typedef struct {
    uint8_t *bytes;
    size_t byteCount;
    size_t capacity;
    char error[CPNG_MESSAGE_CAPACITY];
} cpng_output;

static inline void cpng_on_write_error(png_structp png, png_const_charp message) {
    cpng_copy_message(((cpng_output *)png_get_error_ptr(png))->error, message);
    png_longjmp(png, 1);
}

static inline void cpng_on_write_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static inline void cpng_on_write(png_structp png, png_bytep bytes, size_t count) {
    cpng_output *output = (cpng_output *)png_get_io_ptr(png);
    if (count > output->capacity - output->byteCount) {
        size_t capacity = output->capacity * 2 + count + 4096;
        uint8_t *larger = (uint8_t *)realloc(output->bytes, capacity);
        if (!larger) png_error(png, "out of memory");
        output->bytes = larger;
        output->capacity = capacity;
    }
    memcpy(output->bytes + output->byteCount, bytes, count);
    output->byteCount += count;
}

static inline void cpng_on_flush(png_structp png) { (void)png; }

// Everything between setjmp and the end of the file; the caller destroys what it made.
static inline __attribute__((noinline)) int cpng_encode_with(png_structp png, png_infop info,
                                                              const cpng_picture *picture, cpng_output *output) {
    if (setjmp(png_jmpbuf(png))) return 0;
    png_set_write_fn(png, output, cpng_on_write, cpng_on_flush);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_strategy(png, 3);  // Z_RLE
    png_set_compression_level(png, 1);
    png_set_compression_buffer_size(png, 1 << 16);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, picture->filters);
    png_set_IHDR(png, info, picture->width, picture->height, 8, picture->colorType, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    if (picture->colorType == PNG_COLOR_TYPE_PALETTE) {
        png_color colors[256];
        for (int i = 0; i < picture->paletteCount && i < 256; i++) {
            colors[i].red = picture->palette[3 * i];
            colors[i].green = picture->palette[3 * i + 1];
            colors[i].blue = picture->palette[3 * i + 2];
        }
        png_set_PLTE(png, info, colors, picture->paletteCount);
        if (picture->alphaCount > 0) png_set_tRNS(png, info, picture->alpha, picture->alphaCount, NULL);
    }
    png_write_info(png, info);
    if (picture->isBGR) png_set_bgr(png);
    for (uint32_t y = 0; y < picture->height; y++) png_write_row(png, picture->pixels + y * picture->rowStride);
    png_write_end(png, info);
    return 1;
}

// Encodes a picture into memory; on failure 0, a message in `output->error` and nothing to free.
static inline __attribute__((noinline)) int cpng_encode(const cpng_picture *picture, cpng_output *output) {
    memset(output, 0, sizeof(*output));
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, output, cpng_on_write_error, cpng_on_write_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    int done = info ? cpng_encode_with(png, info, picture, output) : 0;
    if (!info) cpng_copy_message(output->error, "out of memory");
    png_destroy_write_struct(&png, &info);
    if (!done) {
        free(output->bytes);
        output->bytes = NULL;
        output->byteCount = 0;
    }
    return done;
}

#endif
