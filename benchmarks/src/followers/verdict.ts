import { table } from '../markdown.js';

/** A measured fact, and whether it is as it should be. */
export interface Finding {
  readonly fact: string;
  readonly figure: string;
  /** What the figure should be. Absent for facts that are published only. */
  readonly aim?: string;
  readonly holds: boolean;
}

/** A finding that is published only. */
export function figure(fact: string, measured: string): Finding {
  return { fact, figure: measured, holds: true };
}

/** A measured number of milliseconds that must be at most `aim`. */
export function atMost(fact: string, milliseconds: number, aim: number): Finding {
  return { fact, figure: `${shown(milliseconds)} ms`, aim: `${shown(aim)} ms`, holds: milliseconds <= aim };
}

/** A list of violations that must be empty. The first ones go to the terminal. */
export function none(fact: string, violations: readonly unknown[]): Finding {
  for (const violation of violations.slice(0, 5)) console.error(`${fact}: ${JSON.stringify(violation)}`);
  return { fact, figure: `${violations.length}`, aim: '0', holds: violations.length === 0 };
}

function findingsTable(findings: readonly Finding[]): string {
  return table(
    ['', 'Measured', 'Aim', 'Holds'],
    findings.map(({ fact, figure, aim = '', holds }) => [fact, figure, aim, aim === '' ? '' : holds ? 'yes' : 'NO']),
  );
}

/** Prints a section. The process fails if an aim is missed. */
export function publish(title: string, text: readonly string[], findings: readonly Finding[]): void {
  console.log([`## ${title}`, ...text, findingsTable(findings)].join('\n\n'));
  if (findings.some(({ holds }) => !holds)) process.exitCode = 1;
}

/** Value below which the share of the figures lies. */
export function percentile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

function shown(milliseconds: number): string {
  return milliseconds < 10 ? milliseconds.toFixed(1) : milliseconds.toFixed(0);
}
