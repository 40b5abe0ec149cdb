// Package images reads and writes images as files that other programs read: folders of PNG and JPEG
// files, and one picture of many images.
//
//	ReadFolder   a folder of images, or of one folder for each class, as records
//	CheckFolder  the files that ReadFolder reads as zeros
//	WriteFolder  every record as a PNG file
//	WritePNG     all records as one picture
package images
