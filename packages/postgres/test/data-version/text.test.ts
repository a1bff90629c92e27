import { toDataVersion } from '../../src/data-version.js';

const row = { numbers: '7', server: 'here', feed_offset: '0', newest: '10', snapshot: '5:12:5,8,11', standby: 'f' };

describe('the text of the data version', () => {
  it('holds the newest position, and the transactions that run below it', () => {
    expect(toDataVersion(row)).toBe('here/7/10/5,8');
  });

  it('is the same while foreign transactions begin and end above the newest position', () => {
    expect(toDataVersion({ ...row, snapshot: '5:20:5,8,13,19' })).toBe(toDataVersion(row));
  });

  it('is another one when a transaction below has ended', () => {
    expect(toDataVersion({ ...row, snapshot: '8:12:8,11' })).not.toBe(toDataVersion(row));
  });

  it('subtracts the offset from positions', () => {
    expect(toDataVersion({ ...row, feed_offset: '100', newest: '110' })).toBe('here/7/110/5,8');
  });

  it('holds no transaction if none runs', () => {
    expect(toDataVersion({ ...row, snapshot: '12:12:' })).toBe('here/7/10/');
  });

  it.each([
    ['there is no event', { ...row, newest: null }],
    ['the newest position is above the snapshot', { ...row, newest: '12' }],
    ['the offset is missing', { ...row, feed_offset: null }],
  ])('holds the whole snapshot where %s', (_name, found) => {
    expect(toDataVersion(found)).toContain('5:12:5,8,11');
  });

  it('is another one with each call on a standby', () => {
    const standby = { ...row, standby: 't' };
    expect(toDataVersion(standby)).not.toBe(toDataVersion(standby));
  });
});
