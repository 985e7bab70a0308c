// SHA-256's compression (FIPS 180-4, section 6.2), by the processor's own instructions where it has them.

#ifndef CHASH_H
#define CHASH_H

#include <stddef.h>
#include <stdint.h>

// Takes `blocks` blocks of 64 bytes into the state.
void chash_sha256(uint32_t state[8], const uint8_t *bytes, size_t blocks);

// The same in plain C, on any processor.
void chash_sha256_portable(uint32_t state[8], const uint8_t *bytes, size_t blocks);

#endif
