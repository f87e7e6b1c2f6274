"""One verb per file: plain values in, a frozen result out. Commands never import each other."""
