import { dataVersionText } from '../../src/data-version.js';

const row = { numbers: '7', source: 'here', feed_offset: '0', newest: '10', snapshot: '5:12:5,8,11', standby: 'f' };

describe('the text of a stamp', () => {
  it('names the newest place, and what runs below it', () => {
    expect(dataVersionText(row)).toBe('here/7/10/5,8');
  });

  it('is the same while strangers begin and end above the newest place', () => {
    expect(dataVersionText({ ...row, snapshot: '5:20:5,8,13,19' })).toBe(dataVersionText(row));
  });

  it('is another one when what runs below has ended', () => {
    expect(dataVersionText({ ...row, snapshot: '8:12:8,11' })).not.toBe(dataVersionText(row));
  });

  it('takes from places what was added to ids', () => {
    expect(dataVersionText({ ...row, feed_offset: '100', newest: '110' })).toBe('here/7/110/5,8');
  });

  it('has nothing that runs where nothing does', () => {
    expect(dataVersionText({ ...row, snapshot: '12:12:' })).toBe('here/7/10/');
  });

  it.each([
    ['there is no event', { ...row, newest: null }],
    ['the newest place is yet to come', { ...row, newest: '12' }],
    ['nobody knows what is added to ids', { ...row, feed_offset: null }],
  ])('holds the whole snapshot where %s', (_name, found) => {
    expect(dataVersionText(found)).toContain('5:12:5,8,11');
  });

  it('is another one with each call on a standby', () => {
    const standby = { ...row, standby: 't' };
    expect(dataVersionText(standby)).not.toBe(dataVersionText(standby));
  });

  it('is made of the numbers alone where there are no transaction ids', () => {
    expect(dataVersionText({ numbers: '7' })).toBe('/7');
  });
});
