package web

// fileRoutes are the routes about files, diffs and plans.
func fileRoutes() []route { return nil }
