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
  return (
    <div class="fault" role="alert">
      <Icon name="warning" />
      <p>
        {error.message}
        {error.details.length > 0 && error.details[0]?.message !== error.message && (
          <ul>
            {error.details.slice(0, 10).map(({ path, message }) => (
              <li key={`${path} ${message}`}>{path ? `${path}: ${message}` : message}</li>
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
