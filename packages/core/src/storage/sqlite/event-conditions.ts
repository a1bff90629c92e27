import { parsePosition } from '../event-position.js';
import type { EventQuery } from '../port.js';

/** Conditions that one index answers. */
export interface Condition {
  readonly index: 'subject' | 'type' | 'project' | 'time';
  /** Column, operator and value of each. */
  readonly terms: readonly Term[];
}

type Term = readonly [column: string, operator: '=' | '>=' | '<=' | '>', value: unknown];

/** A WHERE clause, or none, and its values. */
export interface Where {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** What a filter asks for, the most selective by nature first. */
export function conditionsOf({ filter = {} }: EventQuery): readonly Condition[] {
  const { subject, type, project, from, to } = filter;
  const conditions: readonly Condition[] = [
    { index: 'subject', terms: given(['subject_kind', '=', subject?.kind], ['subject_id', '=', subject?.id]) },
    { index: 'type', terms: given(['type', '=', type]) },
    { index: 'project', terms: given(['project', '=', project]) },
    { index: 'time', terms: given(['at', '>=', from], ['at', '<=', to]) },
  ];
  return conditions.filter(({ terms }) => terms.length > 0);
}

/** All conditions, written so that SQLite can use no index of theirs but the leading one's. */
export function whereOf(
  conditions: readonly Condition[],
  { lead, after }: { readonly lead: Condition | undefined; readonly after: string | undefined },
): Where {
  const terms = conditions.flatMap((condition) => {
    return condition === lead ? condition.terms : condition.terms.map(withoutIndex);
  });
  return toWhere([...terms, ...given(['position', '>', after === undefined ? undefined : parsePosition(after)])]);
}

export function toWhere(terms: readonly Term[]): Where {
  const sql = terms.map(([column, operator]) => `${column} ${operator} ?`).join(' AND ');
  return { sql: sql === '' ? '' : `WHERE ${sql}`, parameters: terms.map(([, , value]) => value) };
}

function given(...terms: readonly Term[]): readonly Term[] {
  return terms.filter(([, , value]) => value !== undefined);
}

/** A unary plus keeps the planner from looking for an index. */
function withoutIndex([column, operator, value]: Term): Term {
  return [`+${column}`, operator, value];
}
