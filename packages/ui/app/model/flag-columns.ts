/** The columns of the list that disappear where the names of the flags need their place. */
export type OptionalColumn = 'seen' | 'type' | 'hours';

/* Widths in the font size of the page. */

/** Shows a name of 40 characters, and most descriptions. */
const MIN_NAME = 27;
/** The padding of a name. */
const NAME_PADDING = 1.5;
const CHECK = 3;
/** Holds a switch and its state. */
const MIN_ENVIRONMENT = 6.5;
const MAX_ENVIRONMENT = 11;
/** The padding of a column, and the average width of a character: in the bold head, and in the small font of the audiences. */
const PADDING = 1.2;
const HEAD_CHARACTER = 0.54;
const CHARACTER = 0.48;
/** The width of the column of *View as*. */
export const VIEWED = 11;
/** In the order in which they get a place. */
const OPTIONAL: readonly (readonly [column: OptionalColumn, width: number])[] = [
  ['seen', 7],
  ['type', 8],
  ['hours', 9.5],
];

/** Narrower lists show cards instead of columns. */
const CARDS = 51;

interface Columns {
  readonly environments: readonly number[];
  readonly optional: ReadonlySet<OptionalColumn>;
}

interface Wanted {
  /** The width of the longest name. */
  readonly name: number;
  /** The widths that the texts of the environments need. */
  readonly environments: readonly number[];
  /** Whether there is a column for the context of *View as*. */
  readonly isViewed: boolean;
  readonly optional: ReadonlySet<OptionalColumn>;
}

/** Returns the width that the name of an environment, and its longest text, need, within bounds. */
export function environmentWidth(name: string, texts: Iterable<string>): number {
  let longest = HEAD_CHARACTER * name.length;
  for (const { length } of texts) longest = Math.max(longest, CHARACTER * length);
  return Math.min(MAX_ENVIRONMENT, Math.max(MIN_ENVIRONMENT, PADDING + longest));
}

/**
 * Chooses columns that leave the names their place. The names grow first, until all are whole. Then environments grow
 * from the width of a switch to that of their texts. Then optional columns appear. So a wider list never cuts a name
 * that a narrower one shows whole.
 */
export function fitColumns(available: number, { name, environments, isViewed, optional }: Wanted): Columns {
  let rest = available - Math.max(MIN_NAME, NAME_PADDING + name) - CHECK - (isViewed ? VIEWED : 0);
  const most = Math.max(MIN_ENVIRONMENT, rest / environments.length);
  const widths = environments.map((width) => Math.min(width, most));
  if (available < CARDS) return { environments: widths, optional: new Set(['seen']) };
  rest -= widths.reduce((sum, width) => sum + width, 0);
  const shown = new Set<OptionalColumn>();
  for (const [column, width] of OPTIONAL) {
    if (!optional.has(column)) continue;
    rest -= width;
    if (rest < 0) break;
    shown.add(column);
  }
  return { environments: widths, optional: shown };
}
