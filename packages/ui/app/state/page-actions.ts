import { createContext, type RefObject } from 'preact';
import { useContext, useEffect, useRef } from 'preact/hooks';

/** An action of the current page, for the palette. */
export interface Action {
  readonly group: string;
  /** The action of Enter: "Edit production", "Go to Events", "Set Type". */
  readonly label: string;
  readonly run: () => void;
}

interface Declaration extends Pick<Action, 'label' | 'group'> {
  readonly control: RefObject<HTMLElement | null>;
  readonly isField: boolean;
}

/** The group of the actions of a part of the page. */
export const ActionGroup = createContext('On this page');

const declarations = new Set<Declaration>();

/**
 * Declares what a control does while it is shown. Returns the ref of the control.
 *
 * @param label undefined or empty: nothing at the moment
 * @param isField gets the focus instead of a click
 */
export function useAction<E extends HTMLElement>(label: string | undefined, isField = false): RefObject<E | null> {
  const group = useContext(ActionGroup);
  const control = useRef<E>(null);
  useEffect(() => {
    if (!label) return;
    const declaration = { label, group, control, isField };
    declarations.add(declaration);
    return () => void declarations.delete(declaration);
  }, [label, group, isField]);
  return control;
}

/** Returns the actions of the visible controls, from top to bottom. Controls with the same label are one action. */
export function shownActions(): readonly Action[] {
  const shown = [...declarations].flatMap(({ label, group, isField, control: { current } }) => {
    const run = () => {
      current?.focus();
      if (!isField) current?.click();
    };
    return current?.checkVisibility() ? [{ label, group, run, control: current }] : [];
  });
  const isBefore = (one: Node, other: Node) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
  const sorted = shown.sort((one, other) => (isBefore(one.control, other.control) ? -1 : 1));
  return sorted.filter(({ label }, index) => sorted.findIndex((other) => other.label === label) === index);
}
