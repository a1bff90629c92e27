import type { CheckOptions, LogIndex } from './check.js';
import type { Entry, History, View, Violation } from './history.js';

/** What nodes evaluate: whole change sets, never older ones than before, in the end the newest, and without a pause. */
export function checkViews(history: History, log: LogIndex, options: CheckOptions): readonly Violation[] {
  const found: Violation[] = [];
  const pairs = pairsOf(history);
  const nodes = new Map<string, Entry[]>();
  for (const entry of history.entries) {
    const { node } = entry;
    if (entry.kind === 'view' || entry.kind === 'reset') nodes.set(node, [...(nodes.get(node) ?? []), entry]);
    if (entry.kind !== 'evaluation-failed') continue;
    found.push({ rule: 'evaluation interrupted', message: entry.error, evidence: [entry] });
  }
  for (const entries of nodes.values()) {
    found.push(...checkOrder(entries, log, options));
    const views = entries.filter((entry) => entry.kind === 'view');
    found.push(...checkGaps(views, options), ...views.flatMap((view) => findHalves(view, pairs)).slice(0, 1));
    const last = views.at(-1);
    if (last?.isLast) found.push(...checkArrival(last, history));
  }
  return found;
}

/** Flags that are only changed together. */
function pairsOf({ entries }: History): ReadonlySet<string> {
  return new Set(entries.flatMap((entry) => (entry.kind === 'change' ? [JSON.stringify(entry.flags)] : [])));
}

function findHalves(view: View, pairs: ReadonlySet<string>): readonly Violation[] {
  for (const pair of pairs) {
    const values = new Set((JSON.parse(pair) as string[]).map((flag) => view.values[flag]));
    if (values.size < 2) continue;
    const message = `${view.node} evaluated ${pair} as ${[...values].join(' and ')}`;
    return [{ rule: 'half a change set', message, evidence: [view] }];
  }
  return [];
}

/** Follows the revision of each flag that a node evaluates. */
function checkOrder(entries: readonly Entry[], log: LogIndex, { mayLose }: CheckOptions): readonly Violation[] {
  const known = new Map<string, { readonly revision: number; readonly view: View }>();
  let lost: View | undefined;
  // Before it, a node has seen revisions that the log does not have, also of change sets that were repeated later.
  const lastReset = entries.findLastIndex((entry) => entry.kind === 'reset' && entry.of === 'evaluation');
  for (const entry of mayLose ? entries.slice(lastReset + 1) : entries) {
    if (entry.kind !== 'view') continue;
    for (const [flag, value] of Object.entries(entry.values)) {
      const revision = value === '' ? 0 : log.get(value)?.find((event) => event.flag === flag)?.revision;
      if (revision === undefined) {
        lost = entry;
        if (mayLose) continue;
        const message = `${entry.node} evaluated ${value}, which the log does not have`;
        return [{ rule: 'view of nothing', message, evidence: [entry] }];
      }
      const before = known.get(flag);
      if (before && before.revision > revision) {
        const message = `${entry.node} evaluated revision ${revision} of ${flag} after ${before.revision}`;
        return [{ rule: 'view goes back', message, evidence: [before.view, entry] }];
      }
      if (before?.revision !== revision) known.set(flag, { revision, view: entry });
    }
  }
  if (!lost) return [];
  const message = `${lost.node} evaluated a change that the store has lost, and did not say so`;
  return [{ rule: 'view of nothing', message, evidence: [lost] }];
}

function checkGaps(views: readonly View[], { longestGap }: CheckOptions): readonly Violation[] {
  for (const [index, view] of views.entries()) {
    const next = views[index + 1];
    if (!next || next.time - view.time <= longestGap) continue;
    const message = `${view.node} did not evaluate for ${Math.round((next.time - view.time) / 1e6)} ms`;
    return [{ rule: 'evaluation interrupted', message, evidence: [view, next] }];
  }
  return [];
}

function checkArrival(last: View, { flags }: History): readonly Violation[] {
  const behind = flags.find(({ flag, value }) => last.values[flag] !== undefined && last.values[flag] !== value);
  if (!behind) return [];
  const message = `${last.node} evaluates ${last.values[behind.flag]} of ${behind.flag} at the end`;
  return [{ rule: 'node stays behind', message, evidence: [last, behind] }];
}
