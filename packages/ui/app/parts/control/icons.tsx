const PATHS = {
  flag: 'M4 2v12M4.5 3h8l-2 3 2 3h-8',
  plus: 'M8 3v10M3 8h10',
  close: 'm4 4 8 8M12 4l-8 8',
  fold: 'm3 10.5 5-5 5 5',
  unfold: 'm3 5.5 5 5 5-5',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  edit: 'm3 13 .7-3L11 2.7l2.3 2.3L6 12.3z',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
  person: 'M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M3 14c.4-2.6 2.3-4 5-4s4.6 1.4 5 4',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10m3.6-1.4L14 14',
  theme: 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  back: 'M10 3 5 8l5 5',
  warning: 'M8 2 1.5 13.5h13zM8 6.5v3M8 11.7h.01',
  undo: 'M5.5 3 2.5 6l3 3M3 6h6.5a4 4 0 0 1 0 8H6',
  external: 'M9 3h4v4M13 3 7 9M11 9v4H3V5h4',
  copy: 'M6 6h7v8H6zM10 6V2H3v8h3',
} as const;

export type IconName = keyof typeof PATHS;

/** Hidden from screen readers: adjacent text, or the label of the button, has the same meaning. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
