import { Refusal } from '../errors/refusal.js';

/** HTTP asks that a 401 names a scheme. */
export function unauthenticated(message: string): Refusal {
  return new Refusal('unauthenticated', message, { 'www-authenticate': 'Bearer' });
}
