import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../api/call.js';
import { Icon } from './icons.js';

/** Says what a place is for while it is empty. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Says what went wrong, and offers to try again. */
export function Fault({ error, onRetry }: { readonly error: ApiError; readonly onRetry?: () => void }) {
  const [only, ...others] = error.details;
  // The message of a single issue has all that the list would have.
  const isWhole = only !== undefined && others.length === 0 && error.message.includes(only.message);
  return (
    <div class="fault" role="alert">
      <Icon name="warning" />
      <p>
        {isWhole ? inWords(error.message, only?.path) : error.message}
        {!isWhole && error.details.length > 0 && (
          <ul>
            {error.details.slice(0, 10).map(({ path, message }) => (
              <li key={`${path} ${message}`}>{path ? `${placeOf(path)}: ${message}` : message}</li>
            ))}
          </ul>
        )}
      </p>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Says where the issue is in words: the field has a label, no JSON Pointer. */
function inWords(message: string, pointer: string | undefined): string {
  return pointer ? message.replace(pointer, placeOf(pointer)) : message;
}

/** Lists whose items people count from one. */
const ITEMS: Readonly<Record<string, string>> = {
  strategies: 'strategy',
  constraints: 'constraint',
  variants: 'variant',
  values: 'value',
};

/** Says a JSON Pointer into a change set in words: "strategy 2, constraint 1, value". */
function placeOf(pointer: string): string {
  const parts = pointer.split('/').slice(1);
  const own = parts[0] === 'changes' ? parts.slice(parts[2] === 'input' ? 3 : 2) : parts;
  const words = own.map((part) => ITEMS[part] ?? (/^\d+$/.test(part) ? `${Number(part) + 1}` : part));
  return words.join(', ').replaceAll(/, (?=\d)/g, ' ') || pointer;
}

/** Rows in the place of content that loads. Nothing for the first 100 milliseconds. */
export function Loading({ rows = 6 }: { readonly rows?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 100);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="loading" aria-busy="true">
      {isShown && Array.from({ length: rows }, (_, index) => <div key={index} class="skeleton" />)}
      <span class="hidden">Loading</span>
    </div>
  );
}
