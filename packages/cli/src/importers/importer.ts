import type { DefinedFlag, Definitions } from '@flags/core';
import type { DefinedSegment, DefinedStrategy } from '@flags/core/types';

/** The properties of the store that an importer needs. */
export interface ImportTarget {
  /** The environments of the store. */
  readonly environments: readonly string[];
  /** The names of the built-in strategies. */
  readonly strategies: readonly string[];
  /** The environment for files without environments. */
  readonly environment: string;
  /** Maps an environment of the file to one of the store. Undefined: it is not imported. */
  readonly toEnvironment: (name: string) => string | undefined;
}

/** Definitions, and notes on the settings that could not be converted. */
export interface Imported {
  readonly definitions: Definitions;
  /** One sentence each, without duplicates. */
  readonly report: readonly string[];
}

export type Members = Readonly<Record<string, unknown>>;

/** The parts of a document that an importer has no schema for. */
export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
export const listOf = (value: unknown): readonly Members[] => (Array.isArray(value) ? value.map(membersOf) : []);
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
export const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** Collects the notes on settings that could not be converted. */
export class Report {
  private readonly found = new Set<string>();

  add(sentence: string): void {
    this.found.add(sentence);
  }

  get sentences(): readonly string[] {
    return [...this.found];
  }
}

const NAME = /[^A-Za-z0-9_.!~*'()-]/g;

/** Returns a permitted name. Reports a changed one. */
export function toName(name: string, report: Report): string {
  const permitted = name.replace(NAME, '-').slice(0, 100);
  if (permitted !== name) report.add(`The name ${name} is not permitted; the flag is named ${permitted}.`);
  return permitted;
}

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
