import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../api/call.js';
import { refusalText } from '../model/refusal.js';
import { hasField } from './field.js';
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

/** Says what went wrong, except what its fields say, and offers to repeat a read. */
export function Fault({ error }: { readonly error: ApiError }) {
  if (error.details.length > 0 && error.details.every((issue) => hasField(issue))) return null;
  const canRetry = error.retry !== undefined && error.status !== 400 && error.status !== 404;
  return (
    <div class="fault" role="alert">
      <Icon name="warning" />
      <p>{refusalText(error)}</p>
      {canRetry && (
        <button type="button" onClick={error.retry}>
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
