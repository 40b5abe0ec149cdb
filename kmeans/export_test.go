package kmeans

// WithCache bounds the memory for features, in bytes.
func WithCache(bytes int64) Option { return func(o *options) { o.cache = bytes } }
