import type { DefinedFlag, Definitions, EvaluationContext } from '@flags/core';
import type { DefinedSegment, DefinedStrategy } from '@flags/core/types';

/** The properties of the store that an importer needs. */
export interface ImportTarget {
  /** The environments of the store. */
  readonly environments: readonly string[];
  /** The names of the built-in strategies. */
  readonly strategies: readonly string[];
  /** The environment for files without environments. */
  readonly environment: string;
  /** Whether the caller has named that environment. */
  readonly isNamed: boolean;
  /** Maps an environment of the file to one of the store. Undefined: it is not imported. */
  readonly toEnvironment: (name: string) => string | undefined;
}

export type Members = Readonly<Record<string, unknown>>;

/** Converts a file of another product. */
export interface Importer {
  /** Says what the document is instead of a file of the product, in a sentence without its end. Undefined: it is one. */
  readonly refuse: (document: unknown, target: ImportTarget) => string | undefined;
  /** Converts a document that is not refused. */
  readonly convert: (document: unknown, target: ImportTarget, report: Report) => Definitions;
}

/** The parts of a document that an importer has no schema for. */
export const membersOf = (value: unknown): Members => (isObject(value) ? value : {});
export const listOf = (value: unknown): readonly Members[] => (Array.isArray(value) ? value.map(membersOf) : []);
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
export const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A flag, or a part of it, means something that no definition means. The message is a sentence without its end. */
export class NoEquivalent extends Error {}

/** Collects the notes on settings that could not be converted, and the flags that are left out. */
export class Report {
  private readonly found = new Set<string>();
  private readonly left = new Set<string>();

  /** Adds a sentence. */
  add(sentence: string): void {
    this.found.add(sentence);
  }

  /** Leaves a flag out of the import. The reason is a sentence without its end. */
  leaveOut(flag: string, reason: string): void {
    this.left.add(flag);
    this.add(`${flag}: ${reason}. The flag is left out: it is neither created nor changed.`);
  }

  get sentences(): readonly string[] {
    return [...this.found];
  }

  /** The names of the flags that are left out, as in the file. */
  get leftOut(): readonly string[] {
    return [...this.left];
  }
}

/** Converts flags by their names in the file. Leaves out those that have no equivalent, or whose name is taken. */
export function convertFlags<Given>(
  given: readonly (readonly [key: string, flag: Given])[],
  report: Report,
  convert: (name: string, flag: Given) => Omit<DefinedFlag, 'name'>,
): readonly DefinedFlag[] {
  const taken = new Set(given.map(([key]) => key).filter((key) => toName(key) === key));
  return given.flatMap(([key, flag]): readonly DefinedFlag[] => {
    const name = toName(key);
    try {
      const isChanged = name !== key;
      if (isChanged && taken.has(name)) {
        throw new NoEquivalent(`its name becomes ${name} here, and another flag has that name`);
      }
      const converted = { name, ...convert(name, flag) };
      taken.add(name);
      if (isChanged) report.add(`The name ${key} is not permitted; the flag is named ${name}.`);
      return [converted];
    } catch (error) {
      if (!(error instanceof NoEquivalent)) throw error;
      report.leaveOut(key, error.message);
      return [];
    }
  });
}

const NAME = /[^A-Za-z0-9_.!~*'()-]/g;

/** Returns a permitted name. */
export function toName(name: string): string {
  return name.replace(NAME, '-').slice(0, 100);
}

/**
 * Returns a whole percentage: the nearest one, but neither 0 nor 100 for a fraction. Evaluation knows no others.
 *
 * @param of the flag, for the note
 */
export function toWholePercentage(value: unknown, of: string, report: Report): string {
  const percentage = Math.min(100, Math.max(0, Number(value) || 0));
  if (Number.isInteger(percentage)) return `${percentage}`;
  const whole = Math.min(99, Math.max(1, Math.round(percentage)));
  report.add(`${of}: ${value} % becomes ${whole} %, because percentages are whole numbers.`);
  return `${whole}`;
}

/** Returns texts without blanks around them, and without empty ones. Notes what changes. */
export function withoutBlanks(texts: readonly string[], of: string, report: Report): readonly string[] {
  const trimmed = texts.map((text) => text.trim());
  if (trimmed.some((text, index) => text !== texts[index] || text === '')) {
    report.add(`${of}: blanks around values and empty values are dropped.`);
  }
  return trimmed.filter((text) => text !== '');
}

/** The members of a context that applications and SDKs fill themselves. */
export const CONTEXT_MEMBERS: Readonly<Record<keyof EvaluationContext, true>> = {
  userId: true,
  sessionId: true,
  remoteAddress: true,
  environment: true,
  appName: true,
  currentTime: true,
  properties: true,
};

/** Returns definitions without empty lists. Flags that are active there are active here. */
export function toDefinitions(members: {
  readonly projects?: Definitions['projects'];
  readonly segments?: readonly DefinedSegment[];
  readonly flags: readonly DefinedFlag[];
}): Definitions {
  const { projects = [], segments = [], flags } = members;
  return {
    version: 1,
    ...(projects.length > 0 && { projects }),
    ...(segments.length > 0 && { segments }),
    flags: flags.map((flag) => ({ archived: false, ...flag })),
  };
}

/** A flag without strategies is off. */
export function switchOf(environment: string, strategies: readonly DefinedStrategy[], isOn = true) {
  return { [environment]: { enabled: isOn && strategies.length > 0, strategies } };
}
