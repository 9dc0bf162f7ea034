module example.org/links

go 1.22
