/** What was sent is no pack that is taken. The message follows "The pack", or names one of its objects. */
export class PackInvalid extends Error {}
