'use client';
import { useBooleanFlagValue, useStringFlagValue } from '@openfeature/react-sdk';

export function Banner() {
  const color = useStringFlagValue('banner', 'none');
  return useBooleanFlagValue('banner', false) ? <p>The {color} banner</p> : null;
}
