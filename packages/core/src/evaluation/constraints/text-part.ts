import { operandTexts } from './operand-texts.js';
import { createTextSearch, type TextSearch } from './text-search.js';
import type { ValueTestFactory } from './value-test.js';

export const startsWith: ValueTestFactory = searching(anyPart((value, part) => value.startsWith(part)));
export const endsWith: ValueTestFactory = searching(anyPart((value, part) => value.endsWith(part)));
export const contains: ValueTestFactory = searching(createTextSearch);

type TextSearchFactory = (parts: readonly string[]) => TextSearch;

function searching(createSearch: TextSearchFactory): ValueTestFactory {
  return (constraint) => {
    const parts = operandTexts(constraint);
    if (!constraint.caseInsensitive) {
      const search = createSearch(parts);
      return (value) => value !== undefined && search(value);
    }
    const search = createSearch(parts.map((part) => part.toLowerCase()));
    return (value) => value !== undefined && search(value.toLowerCase());
  };
}

function anyPart(matches: (value: string, part: string) => boolean): TextSearchFactory {
  return (parts) => (text) => {
    for (const part of parts) if (matches(text, part)) return true;
    return false;
  };
}
