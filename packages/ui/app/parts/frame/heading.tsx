import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { focusHeading } from '../../router.js';
import { settings } from '../../settings.js';

/** The heading of a screen. It names the tab, and gets the focus after a navigation. */
export function Heading({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${settings.title}`;
    focusHeading(heading.current);
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children ?? title}
    </h1>
  );
}
