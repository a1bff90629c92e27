/**
 * How ids and group ids become the bytes that are hashed; for ASCII it makes no difference.
 *
 * - `utf8`: as the SDKs of other languages do.
 * - `low-byte`: the low byte of each UTF-16 unit, as the Node SDK of Unleash does. For applications that move from it and
 *   want users with non-ASCII ids to keep what they have.
 */
export type TextEncoding = 'utf8' | 'low-byte';
