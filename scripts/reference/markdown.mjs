// The forms that the pages share.

/** A table whose cells are padded as Biome does. Columns without any text are left out. */
export function table(head, rows) {
  const columns = [...head.keys()].filter((column) => rows.some((row) => row[column] !== ''));
  const cells = [head, ...rows].map((row) => columns.map((column) => toCell(row[column])));
  const widths = columns.map((_, at) => Math.max(3, ...cells.map((row) => [...row[at]].length)));
  const lines = [cells[0], widths.map((width) => '-'.repeat(width)), ...cells.slice(1)];
  return lines.map((row) => `| ${row.map((cell, at) => pad(cell, widths[at])).join(' | ')} |\n`).join('');
}

function pad(cell, width) {
  return cell + ' '.repeat(width - [...cell].length);
}

function toCell(text) {
  const lines = text
    .trim()
    .replaceAll(/\n+- /g, '<br>• ')
    .replaceAll(/\n{2,}/g, '<br>');
  return lines.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
}

export const code = (text) => `\`${text}\``;

/** Without the full stop of a single sentence, as cells are written. */
export function phrase(text) {
  return /^[^.]*\.$/.test(text) || !/\.\s/.test(text) ? text.replace(/\.$/, '') : text;
}

const UNITS = {
  Bytes: [
    [1_048_576, 'MiB'],
    [1024, 'KiB'],
  ],
  Milliseconds: [
    [86_400_000, 'days'],
    [3_600_000, 'hours'],
    [60_000, 'minutes'],
    [1000, 's'],
  ],
};

/** A number with its digits in groups, and in larger units where it is a whole number of them. */
export function amount(value, unit) {
  const digits = value.toLocaleString('en-US');
  const [size, name] = UNITS[unit]?.find(([one]) => value >= one && value % one === 0) ?? [];
  if (size === undefined) return digits;
  const count = value / size;
  return `${digits} (${count} ${count === 1 ? name.replace(/s$/, '') || name : name})`;
}
