export type * from '@flags/http/wire';
