import { paced } from '../base/paced.js';
import type { DocumentReader } from './document-reader.js';

/** Documents per read: the summary of a change request names up to 500 flags. */
const PAGE = 100;

/** A stored summary, with the revision of its document. */
export interface StoredSummary<Summary> {
  readonly summary: Summary;
  readonly revision: number;
}

/** The documents to list. */
export interface SummaryQuery {
  readonly kind: string;
  /** Default: all documents of the kind. */
  readonly parent?: string | undefined;
  /** The id after which the list begins. */
  readonly after?: string | undefined;
}

/** Reads the summaries of documents by id, page by page, and never their bodies. */
export async function* listSummaries<Summary>(
  { list }: Pick<DocumentReader, 'list'>,
  { kind, parent, after: start }: SummaryQuery,
): AsyncGenerator<StoredSummary<Summary>> {
  let after = start;
  for (;;) {
    const bounds = { limit: PAGE, ...(parent !== undefined && { parent }), ...(after !== undefined && { after }) };
    const found = await list({ kind, part: 'summary', ...bounds });
    for await (const { content, revision } of paced(found)) yield { summary: content as Summary, revision };
    if (found.length < PAGE) return;
    after = found.at(-1)?.key.id;
  }
}
