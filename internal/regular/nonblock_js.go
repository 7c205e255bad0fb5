package regular

// nonBlocking is nothing: a page has no named pipes.
const nonBlocking = 0
