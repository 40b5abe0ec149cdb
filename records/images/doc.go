// Package images reads and writes records as folders of PNG and JPEG files.
//
// Where the schema has classes, a folder holds one folder for each, of the class's name; where it
// has none, the files lie in the folder itself. Every file is one record. Files are read in the
// order of classes and then of names; those that do not end in .png, .jpg or .jpeg, and folders
// below, are left out.
//
// Under a schema of colour images grey files have equal colours; under one of grey images colours
// become their luma (ITU-R BT.601), and under one of binary images a luma of half or more is 1.
// What is transparent lies on black. The orientation that a camera notes is not applied, and images
// are not scaled: scale them before.
//
// Every file is read by itself: one that is damaged, too long, or an image of another size is a
// record of zeros, so that no file decides how others are read. [Check] says which files these are.
//
// This package is apart from package records so that programs that read no images do not link the
// decoders.
package images
