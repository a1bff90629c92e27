// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what has to be found
const UNSTORABLE = /[\u0000\u0001\ud7ff\ud800-\udfff]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what has to be found
const REPLACED = /[\u0001\ud7ff]./gsu;

/**
 * Text as PostgreSQL can store it: it knows neither U+0000 nor lone surrogates. Every text has a form of its own, the
 * forms sort like the texts, and nearly all texts are their own form.
 */
export function toStoredText(text: string): string {
  return UNSTORABLE.test(text) ? text.replace(new RegExp(UNSTORABLE, 'gu'), escapeCharacter) : text;
}

/** The text that {@link toStoredText} was given. */
export function fromStoredText(stored: string): string {
  return UNSTORABLE.test(stored) ? stored.replace(REPLACED, unescapeCharacter) : stored;
}

/** U+0001 heads what stands for U+0000 and itself, U+D7FF what stands for itself and the surrogates that follow it. */
function escapeCharacter(character: string): string {
  if (character <= '\u0001') return `\u0001${character === '\u0000' ? '\u0001' : '\u0002'}`;
  return character === '\ud7ff' ? '\ud7ff\u0001' : `\ud7ff${String.fromCharCode(character.charCodeAt(0) - 0xc800)}`;
}

function unescapeCharacter([head, code]: string): string {
  if (head === '\u0001') return code === '\u0001' ? '\u0000' : '\u0001';
  return code === '\u0001' ? '\ud7ff' : String.fromCharCode((code ?? '').charCodeAt(0) + 0xc800);
}
