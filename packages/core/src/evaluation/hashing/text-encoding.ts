export const LAST_ASCII = 0x7f;
/** What UTF-8 holds in the place of half a surrogate pair. */
export const REPLACEMENT_CHARACTER = 0xfffd;
