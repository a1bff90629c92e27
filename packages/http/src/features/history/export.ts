import type { FlagsEvent } from '@flags/core';
import type { eventToWire } from '@flags/core/integration/http';
import type { Pieces } from '../../messages/json.js';

/** The forms of an export, with their media types. */
export const EXPORT_MEDIA = { csv: 'text/csv', jsonl: 'application/jsonl' } as const;

export type ExportFormat = keyof typeof EXPORT_MEDIA;

type WireEvent = ReturnType<typeof eventToWire>;

/** The columns of a CSV, in their order. */
const COLUMNS: Readonly<Record<keyof WireEvent, true>> = {
  id: true,
  type: true,
  createdAt: true,
  createdBy: true,
  createdByTokenId: true,
  createdByTokenType: true,
  project: true,
  featureName: true,
  environment: true,
  changeSet: true,
  reason: true,
  origin: true,
  data: true,
  preData: true,
};

const NAMES = Object.keys(COLUMNS) as (keyof WireEvent)[];

/** Events of one page that the caller may see, and their wire form. */
export interface ExportedPage {
  readonly visible: readonly FlagsEvent[];
  readonly toWire: (event: FlagsEvent) => WireEvent;
}

/** Generates the text of an export, page by page. */
export async function* exportedText(format: ExportFormat, pages: AsyncIterable<ExportedPage>): Pieces {
  if (format === 'csv') yield csvLine(NAMES);
  for await (const { visible, toWire } of pages) {
    for (const event of visible) {
      const wire = toWire(event);
      yield format === 'csv' ? csvLine(NAMES.map((name) => wire[name])) : `${JSON.stringify(wire)}\n`;
    }
  }
}

/** A line of RFC 4180. */
function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** Texts that a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t]/;
const SPECIAL = /[",\r\n]/;

/** Writes objects as JSON, and null as an empty cell. */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return SPECIAL.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
