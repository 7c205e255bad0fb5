"""Makes the fixtures of datasets' file readers; see README.md."""
import numpy as np, nibabel as nib, nrrd, tifffile
from PIL import Image
out='./'
def seq(shape,dt,a,b): 
    n=int(np.prod(shape)); return (a+b*np.arange(n)).astype(dt).reshape(shape)
# npy
np.save(out+'u1_2d.npy', seq((3,5),'u1',10,7))
np.save(out+'b1_2d.npy', (np.arange(15).reshape(3,5)%2==1))
np.save(out+'i1_2d.npy', seq((3,5),'i1',-100,13))
np.save(out+'i2_be_3d.npy', seq((2,3,4),'>i2',-3000,251))
np.save(out+'u2_fortran_3d.npy', np.asfortranarray(seq((2,3,4),'<u2',40000,1001)))
np.save(out+'f4_1d.npy', seq((6,),'<f4',-1.5,0.75))
np.save(out+'f4_be_fortran_4d.npy', np.asfortranarray(seq((1,2,3,4),'>f4',-1.5,0.75)))
for v in ((2,0),(3,0)):
    with open(out+f'u2_v{v[0]}_2d.npy','wb') as f: np.lib.format.write_array(f, seq((3,5),'<u2',500,1000), version=v)
np.save(out+'f8_2d.npy', seq((3,5),'f8',0,1))
np.save(out+'struct_1d.npy', np.zeros(3,dtype=[('a','u1'),('b','f4')]))
# nifti: array axes of nibabel are x,y,z; values by row-major (z,y,x) index
def nii(name,a,slope=None,inter=None,be=False):
    h=nib.Nifti1Header(endianness='>' if be else '<')
    h.set_data_dtype(a.dtype); 
    im=nib.Nifti1Image(np.transpose(a),np.eye(4),h)
    im.set_data_dtype(a.dtype)
    if slope is not None:
        im.header.set_slope_inter(slope,inter)
        # write raw values with the scale factors as they are
        im=None
        h.set_data_shape(a.T.shape); h.set_slope_inter(slope,inter); h['vox_offset']=352; h['magic']=b'n+1'
        with open(out+name,'wb') as f:
            h.write_to(f); f.write(a.astype(a.dtype.newbyteorder('>' if be else '<')).tobytes())
        return
    im.to_filename(out+name)
nii('u8_3d.nii', seq((2,3,4),'u1',10,7))
nii('i8_3d.nii', seq((2,3,4),'i1',-100,9))
nii('i16_be_3d.nii', seq((2,3,4),'i2',-3000,251), be=True)
nii('u16_3d.nii.gz', seq((2,3,4),'u2',40000,1001))
nii('f32_2d.nii.gz', seq((3,5),'f4',-1.5,0.75))
nii('u8_scaled_3d.nii', seq((2,3,4),'u1',10,7), slope=0.5, inter=-8.0)
nii('f64_3d.nii', seq((2,3,4),'f8',0,1))
nib.Nifti2Image(np.transpose(seq((2,3,4),'u1',10,7)),np.eye(4)).to_filename(out+'nifti2_3d.nii')
# nrrd: index_order C writes sizes fastest first for a (z,y,x) array
def nr(name,a,**h): nrrd.write(out+name,a,h,index_order='C')
nr('u8_raw_3d.nrrd', seq((2,3,4),'u1',10,7), encoding='raw')
nr('i16_be_raw_3d.nrrd', seq((2,3,4),'>i2',-3000,251), encoding='raw', endian='big')
nr('f32_gzip_3d.nrrd', seq((2,3,4),'<f4',-1.5,0.75), encoding='gzip')
nr('u16_gzip_2d.nrrd', seq((3,5),'<u2',500,1000), encoding='gzip')
nr('u8_bzip2_3d.nrrd', seq((2,3,4),'u1',10,7), encoding='bzip2')
# png
Image.fromarray(seq((3,5),'u1',10,7)).save(out+'u8_2d.png')
Image.fromarray(seq((3,5),'u2',500,1000)).save(out+'u16_2d.png')
Image.fromarray((np.arange(15).reshape(3,5)%2==1)).save(out+'bit_2d.png')
Image.fromarray(np.stack([seq((3,5),'u1',10,7)]*3,-1)).save(out+'rgb_2d.png')
Image.fromarray(seq((3,5),'u1',0,1)).convert('P').save(out+'palette_2d.png')
Image.fromarray(seq((3,5),'u1',10,7)).convert('LA').save(out+'alpha_2d.png')
# tiff
def tf(name,a,**k): tifffile.imwrite(out+name,a,photometric=k.pop('photometric','minisblack'),metadata=None,**k)
tf('u8_2d.tif', seq((3,5),'u1',10,7))
tf('u8_strips_3d.tif', seq((2,5,4),'u1',10,5), rowsperstrip=2)
tf('i8_packbits_3d.tif', seq((2,3,4),'i1',-100,9), compression='packbits')
tf('i16_be_deflate_3d.tif', seq((2,3,4),'i2',-3000,251), byteorder='>', compression='zlib', predictor=True)
tf('u16_lzw_3d.tif', seq((2,3,4),'u2',40000,1001), compression='lzw', predictor=True)
tf('f32_big_3d.tif', seq((2,3,4),'f4',-1.5,0.75), bigtiff=True)
tf('f32_be_big_deflate_2d.tif', seq((3,5),'f4',-1.5,0.75), bigtiff=True, byteorder='>', compression='zlib')
tf('u8_tiles_2d.tif', seq((20,18),'u1',0,1), tile=(16,16), compression='deflate')
tf('u16_tiles_predictor_2d.tif', seq((20,18),'u2',0,1), tile=(16,16), compression='lzw', predictor=True)
Image.fromarray(seq((3,5),'u1',10,7)).save(out+'pillow_lzw_2d.tif', compression='tiff_lzw')
Image.fromarray(seq((3,5),'u2',500,1000)).save(out+'pillow_deflate_2d.tif', compression='tiff_adobe_deflate')
tf('rgb_2d.tif', np.stack([seq((3,5),'u1',10,7)]*3,-1), photometric='rgb')
tf('whiteiszero_2d.tif', seq((3,5),'u1',10,7), photometric='miniswhite')
tf('predictor3_2d.tif', seq((3,5),'f4',-1.5,0.75), compression='zlib', predictor=3)
tifffile.imwrite(out+'imagej_3d.tif', seq((4,3,5),'u1',10,3), imagej=True, metadata={'axes':'ZYX'})
i = np.arange(60 * 40)
tf('u8_lzw_long_2d.tif', ((i * i // 7) % 6).astype('u1').reshape(40, 60), compression='lzw')

# Types without kernels: values that float32 represents, and others, which are ranked. The values of
# `wide` are from 2^53 − 40 on for integers, and 0.1·i − 1 for floats.
steps = np.arange(24).reshape(2, 3, 4)
wide = 2**53 - 40 + 7 * steps
np.save(out + "f2_3d.npy", (-1.5 + 0.75 * steps).astype("<f2"))
np.save(out + "i4_3d.npy", (-3000 + 251 * steps).astype("<i4"))
np.save(out + "u4_ranked_be_3d.npy", (2**31 + 7 * steps).astype(">u4"))
np.save(out + "i8_ranked_fortran_3d.npy", np.asfortranarray(wide.astype("<i8")))
np.save(out + "u8_ranked_3d.npy", wide.astype("<u8"))
np.save(out + "f8_ranked_3d.npy", (0.1 * steps - 1).astype("<f8"))
nii('f64_ranked_3d.nii.gz', 0.1 * steps - 1)
nii('i32_3d.nii', (-3000 + 251 * steps).astype('<i4'))
nr('f64_ranked_3d.nrrd', 0.1 * steps - 1, encoding='raw')
nr('i64_ranked_3d.nrrd', wide.astype('<i8'), encoding='gzip')
tf('u32_3d.tif', (500 + 1000 * steps).astype('<u4'))
tf('f64_ranked_3d.tif', 0.1 * steps - 1)
tf('i64_ranked_3d.tif', wide.astype('<i8'))
tf('u64_be_predictor_3d.tif', wide.astype('>u8'), byteorder='>', compression='zlib', predictor=2)
tf('f64_be_tiles_predictor3_2d.tif', 0.1 * np.arange(360).reshape(20, 18) - 1, byteorder='>', tile=(16, 16), compression='lzw', predictor=3)
tf('f16_predictor3_3d.tif', (-1.5 + 0.75 * steps).astype('<f2'), compression='zlib', predictor=3)
nib.Nifti2Image(np.transpose(seq((2,3,4),'<i2',-3000,251)),np.eye(4)).to_filename(out+'nifti2_i16_3d.nii.gz')
# MetaImage
import SimpleITK as sitk
def mh(name,a,**k): sitk.WriteImage(sitk.GetImageFromArray(a), out+name, **k)
mh('u8_3d.mha', seq((2,3,4),'u1',10,7))
mh('i16_zlib_3d.mha', seq((2,3,4),'i2',-3000,251), useCompression=True)
mh('f32_2d.mha', seq((3,5),'f4',-1.5,0.75))
mh('f64_ranked_3d.mha', 0.1 * steps - 1)
mh('u16_detached_3d.mhd', seq((2,3,4),'u2',40000,1001))
# Data in files next to the header. The header's software reads numbered and listed files, but does
# not write them: their headers are written here, and read by it.
nib.Nifti1Pair(np.transpose(seq((2,3,4),'i2',-3000,251)),np.eye(4)).to_filename(out+'i16_pair_3d.hdr')
nib.Nifti1Pair(np.transpose(seq((2,3,4),'f4',-1.5,0.75)),np.eye(4)).to_filename(out+'f32_pair_3d.img.gz')
nib.Nifti2Pair(np.transpose(seq((2,3,4),'u1',10,7)),np.eye(4)).to_filename(out+'nifti2_pair_3d.hdr')
nr('f32_detached_3d.nhdr', seq((2,3,4),'<f4',-1.5,0.75), encoding='raw')
nr('i16_detached_gzip_3d.nhdr', seq((2,3,4),'<i2',-3000,251), encoding='gzip')
mh('f32_detached_zlib_3d.mhd', seq((2,3,4),'f4',-1.5,0.75), useCompression=True)
listed = seq((2,3,4),'<i2',-3000,251)
for i, part in enumerate(listed):
    with open(out+f'i16_part_{i + 1}.raw', 'wb') as f: f.write(b'header\n' + part.tobytes())
def text(name, *lines):
    with open(out+name, 'w') as f: f.write('\n'.join(lines) + '\n')
parts = ['i16_part_1.raw', 'i16_part_2.raw']
nrrdlines = ['NRRD0004', 'type: short', 'dimension: 3', 'sizes: 4 3 2', 'endian: little', 'encoding: raw']
text('i16_list_3d.nhdr', *nrrdlines, 'byte skip: 7', 'data file: LIST', *parts)
text('i16_pattern_3d.nhdr', *nrrdlines, 'byte skip: 7', 'data file: i16_part_%d.raw 1 2 1')
text('i16_lines_3d.nhdr', *nrrdlines[:3], 'sizes: 4 3 1', *nrrdlines[4:], 'line skip: 1', 'data file: i16_part_1.raw')
text('i16_end_3d.nhdr', *nrrdlines[:3], 'sizes: 4 3 1', *nrrdlines[4:], 'byte skip: -1', 'data file: i16_part_1.raw')
metalines = ['ObjectType = Image', 'NDims = 3', 'DimSize = 4 3 2', 'ElementType = MET_SHORT']
text('i16_list_3d.mhd', *metalines, 'HeaderSize = 7', 'ElementDataFile = LIST', *parts)
text('i16_pattern_3d.mhd', *metalines, 'HeaderSize = 7', 'ElementDataFile = i16_part_%d.raw 1 2 1')
text('i16_end_3d.mhd', *metalines[:2], 'DimSize = 4 3 1', *metalines[3:], 'HeaderSize = -1', 'ElementDataFile = i16_part_1.raw')
for name in ['i16_lines_3d.nhdr', 'i16_end_3d.nhdr']:
    a = nrrd.read(out+name, index_order='C')[0]
    assert (a == listed[:len(a)]).all(), name
for name in ['i16_list_3d.nhdr', 'i16_pattern_3d.nhdr', 'i16_list_3d.mhd', 'i16_pattern_3d.mhd', 'i16_end_3d.mhd']:
    a = sitk.GetArrayFromImage(sitk.ReadImage(out+name))
    assert (a == listed[:len(a)]).all(), name
# Several volumes.
many = (3, 2, 3, 4)
np.save(out+'i2_volumes_4d.npy', seq(many,'<i2',-3000,51))
np.save(out+'u2_volumes_fortran_5d.npy', np.asfortranarray(seq((3,2,2,3,4),'<u2',100,7)))
nii('i16_volumes_4d.nii', seq(many,'i2',-3000,51))
nii('f32_volumes_4d.nii.gz', seq(many,'f4',-1.5,0.75))
nr('i16_volumes_4d.nrrd', seq(many,'<i2',-3000,51), encoding='gzip', kinds=['domain']*3 + ['list'])
nr('u8_list_4d.nrrd', seq((2,3,4,3),'u1',0,3), encoding='raw', kinds=['list'] + ['domain']*3)
nr('u8_vector_gzip_3d.nrrd', seq((3,4,3),'u1',0,3), encoding='gzip', kinds=['vector'] + ['domain']*2)
sitk.WriteImage(sitk.GetImageFromArray(seq(many,'i2',-3000,51), isVector=False), out+'i16_volumes_4d.mha')
mh('u8_channels_3d.mha', seq((2,3,4,3),'u1',0,3))
# Grey in colours, with and without alpha, and pixels that are not grey or not opaque.
import imagecodecs
def rgb(a): return np.stack([a]*3,-1)
def rgba(a): return np.concatenate([rgb(a), np.full(a.shape+(1,), np.iinfo(a.dtype).max, a.dtype)], -1)
colour, clear = rgb(seq((3,5),'u1',10,7)), rgba(seq((3,5),'u1',10,7))
colour[2,4,2] += 1
clear[1,2,3] = 254
Image.fromarray(colour).save(out+'rgb_colour_2d.png')
Image.fromarray(clear).save(out+'rgba_clear_2d.png')
Image.fromarray(rgba(seq((3,5),'u1',10,7))).save(out+'rgba_2d.png')
with open(out+'rgb16_2d.png','wb') as f: f.write(imagecodecs.png_encode(rgb(seq((3,5),'u2',500,1000))))
with open(out+'rgba16_2d.png','wb') as f: f.write(imagecodecs.png_encode(rgba(seq((3,5),'u2',500,1000))))
tf('rgb_colour_2d.tif', colour, photometric='rgb')
tf('rgba_clear_2d.tif', clear, photometric='rgb', extrasamples=['unassalpha'])
tf('rgb_planes_2d.tif', np.moveaxis(rgb(seq((3,5),'u1',10,7)),-1,0), photometric='rgb', planarconfig='separate')
tf('rgb_be_tiles_predictor_2d.tif', rgb(seq((20,18),'u2',0,1)), photometric='rgb', byteorder='>', tile=(16,16), compression='lzw', predictor=True)
tf('rgba_tiles_2d.tif', rgba(seq((20,18),'u1',0,1)), photometric='rgb', tile=(16,16), compression='deflate', extrasamples=['unassalpha'])
tf('rgb_predictor_3d.tif', rgb(seq((2,3,4),'u1',10,7)), photometric='rgb', compression='lzw', predictor=True)
tf('alpha_2d.tif', rgba(seq((3,5),'u1',10,7))[...,2:], photometric='minisblack', planarconfig='contig', extrasamples=['unassalpha'])
# Text
nr('i16_ascii_3d.nrrd', seq((2,3,4),'<i2',-3000,251), encoding='ascii')
nr('f64_ranked_ascii_3d.nrrd', 0.1 * steps - 1, encoding='ascii')
nr('i16_detached_bzip2_3d.nhdr', seq((2,3,4),'<i2',-3000,251), encoding='bzip2')
text('f32_text_3d.mha', *metalines[:3], 'BinaryData = False', 'ElementType = MET_FLOAT', 'ElementDataFile = LOCAL',
     *(' '.join(str(v) for v in row) for row in seq((6,4),'f4',-1.5,0.75)))
assert (sitk.GetArrayFromImage(sitk.ReadImage(out+'f32_text_3d.mha')) == seq((2,3,4),'f4',-1.5,0.75)).all()
# MRC
import mrcfile
def mrc(name, a, big=False, edit=None):
    with mrcfile.new(out+name, overwrite=True) as f:
        f.set_data(a)
        f.header.label[:] = b''
        f.header.nlabl = 0
        if edit: edit(f)
    if big:
        with open(out+name, 'rb') as f: header = np.frombuffer(f.read(1024), mrcfile.dtypes.HEADER_DTYPE)
        header = header.astype(mrcfile.dtypes.HEADER_DTYPE.newbyteorder('>'))
        header['machst'] = [0x11, 0x11, 0, 0]
        with open(out+name, 'wb') as f: f.write(header.tobytes() + a.astype(a.dtype.newbyteorder('>')).tobytes())
        with mrcfile.open(out+name) as f: assert (f.data == a).all()
mrc('i8_3d.mrc', seq((2,3,4),'i1',-100,9))
mrc('i16_3d.rec', seq((2,3,4),'i2',-3000,251))
mrc('f32_3d.map', seq((2,3,4),'f4',-1.5,0.75))
mrc('f32_2d.mrc', seq((3,5),'f4',-1.5,0.75))
mrc('u16_be_3d.mrc', seq((2,3,4),'u2',40000,1001), big=True)
mrc('f16_3d.mrc', (-1.5 + 0.75 * steps).astype('f2'))
mrc('i16_extended_3d.mrc', seq((2,3,4),'i2',-3000,251), edit=lambda f: f.set_extended_header(np.zeros(3, 'V16')))
mrc('i16_volumes_4d.mrc', seq(many,'i2',-3000,51))
mrc('complex_2d.mrc', seq((3,5),'c8',0,1))
def axes(f): f.header.mapc, f.header.maps = 3, 1
mrc('axes_3d.mrc', seq((2,3,4),'i2',-3000,251), edit=axes)
# FITS
from astropy.io import fits
def ft(name, *hdus): fits.HDUList(list(hdus)).writeto(out+name, overwrite=True)
def extension(): return fits.ImageHDU(np.zeros((2,2),'u1'))
ft('u8_3d.fits', fits.PrimaryHDU(seq((2,3,4),'u1',10,7)))
ft('i16_3d.fits', fits.PrimaryHDU(seq((2,3,4),'i2',-3000,251)), extension())
ft('u16_3d.fits', fits.PrimaryHDU(seq((2,3,4),'u2',40000,1001)))
ft('i8_3d.fits', fits.PrimaryHDU(seq((2,3,4),'i1',-100,9)))
ft('u32_ranked_3d.fits', fits.PrimaryHDU((2**31 + 7 * steps).astype('u4')))
ft('u64_ranked_3d.fits', fits.PrimaryHDU(wide.astype('u8')))
ft('i64_ranked_3d.fits', fits.PrimaryHDU(wide.astype('i8')))
ft('f64_ranked_3d.fits', fits.PrimaryHDU(0.1 * steps - 1))
table = fits.BinTableHDU.from_columns([fits.Column('x', 'PE()', array=np.array([np.arange(3), np.arange(2)], dtype=object))])
ft('f32_extension_2d.fits', fits.PrimaryHDU(), table, fits.ImageHDU(seq((3,5),'f4',-1.5,0.75)), extension())
scaled = fits.PrimaryHDU(seq((2,3,4),'u1',10,7))
scaled.header['BSCALE'], scaled.header['BZERO'] = 0.5, -8.0
ft('u8_scaled_3d.fits', scaled)
with fits.open(out+'u8_scaled_3d.fits') as f: assert (f[0].data == -3 + 3.5 * steps).all()
ft('i16_volumes_4d.fits', fits.PrimaryHDU(seq(many,'i2',-3000,51)))
blank = fits.PrimaryHDU(seq((3,5),'i2',0,1))
blank.header['BLANK'] = -1
ft('blank_2d.fits', blank)
ft('table.fits', fits.PrimaryHDU(), table)
ft('compressed_2d.fits', fits.PrimaryHDU(), fits.CompImageHDU(seq((20,30),'i2',0,1)))
# Archives of arrays, and completely compressed files.
import bz2, gzip
np.savez(out+'i2_stored.npz', image=seq((2,3,4),'<i2',-3000,251))
np.savez_compressed(out+'f4_deflated.npz', seq((2,3,4),'<f4',-1.5,0.75))
np.savez_compressed(out+'two_arrays.npz', first=seq((2,3,4),'u1',10,7), second=seq((3,5),'<f4',-1.5,0.75))
np.savez(out+'volumes.npz', seq(many,'<i2',-3000,51))
def whole(name):
    with open(out+name, 'rb') as f: return f.read()
def packed(name, data):
    with open(out+name, 'wb') as f: f.write(data)
packed('i2_be_3d.npy.gz', gzip.compress(whole('i2_be_3d.npy'), mtime=0))
packed('f32_2d.mha.zst', imagecodecs.zstd_encode(whole('f32_2d.mha')))
packed('u8_strips_3d.tif.zst', imagecodecs.zstd_encode(whole('u8_strips_3d.tif')))
packed('u8_3d.mha.bz2', bz2.compress(whole('u8_3d.mha')))
packed('u8_3d.fits.gz', gzip.compress(whole('u8_3d.fits'), mtime=0))
packed('u16_3d.raw.zst', imagecodecs.zstd_encode(seq((2,3,4),'<u2',40000,1001).tobytes()))
# Unsupported formats
nib.AnalyzeImage(np.transpose(seq((2,3,4),'i2',-3000,251)),np.eye(4)).to_filename(out+'analyze_3d.hdr')
import os
os.remove(out+'analyze_3d.img')
# DICOM
import pydicom
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.sequence import Sequence
def dcm(name, a, syntax=pydicom.uid.ExplicitVRLittleEndian, **k):
    d = Dataset()
    d.file_meta = FileMetaDataset()
    d.file_meta.TransferSyntaxUID = syntax
    d.file_meta.MediaStorageSOPClassUID = d.SOPClassUID = pydicom.uid.CTImageStorage
    d.file_meta.MediaStorageSOPInstanceUID = d.SOPInstanceUID = '1.2.3.4'
    d.SeriesInstanceUID = '1.2.3'
    d.SamplesPerPixel, d.PhotometricInterpretation = 1, 'MONOCHROME2'
    d.Rows, d.Columns = a.shape[-2:]
    d.BitsAllocated = d.BitsStored = 8 * a.dtype.itemsize
    d.HighBit, d.PixelRepresentation = d.BitsStored - 1, int(a.dtype.kind == 'i')
    if a.ndim == 3: d.NumberOfFrames = a.shape[0]
    d.PixelData = a.tobytes() + b'\0' * (a.nbytes % 2)
    for key, v in k.items(): setattr(d, key, v)
    d.save_as(out+name, enforce_file_format=True)
    return d
item = Dataset()
item.Rows, item.BitsAllocated, item.PixelRepresentation, item.PixelData = 99, 8, 0, b'\1\2'
item.is_undefined_length_sequence_item = True
icons = Sequence([item])
icons.is_undefined_length = True
implicit = pydicom.uid.ImplicitVRLittleEndian
dcm('u8_odd_2d.dcm', seq((3,5),'u1',10,7), IconImageSequence=icons)
dcm('i16_implicit_3d.dcm', seq((2,3,4),'i2',-3000,251), syntax=implicit, IconImageSequence=icons)
dcm('u16_3d.dcm', seq((2,3,4),'u2',40000,1001))
dcm('u32_ranked_3d.dcm', (2**31 + 7 * steps).astype('u4'))
dcm('u8_scaled_3d.dcm', seq((2,3,4),'u1',10,7), RescaleSlope='0.5', RescaleIntercept='-8')
# 12 of 16 bits count, with junk above them.
dcm('i12_2d.dcm', (seq((3,5),'i2',-100,13) & 0xfff).astype('u2') | 0x5000, BitsStored=12, HighBit=11, PixelRepresentation=1)
for name, a in {'rle_2d.dcm': seq((3,5),'u1',10,7), 'rle_i16_3d.dcm': seq((2,3,4),'i2',-3000,251)}.items():
    dcm(name, a)
    rle = pydicom.dcmread(out+name)
    rle.compress(pydicom.uid.RLELossless, generate_instance_uid=False)
    rle.save_as(out+name, enforce_file_format=True)
series = seq((4,3,5),'i2',0,100)
os.makedirs(out+'series', exist_ok=True)
for k, z in enumerate([2, 0, 3, 1]):
    # Slices from the left to the right, whose rows go to the back and columns down.
    dcm(f'series/IM{k + 1}', series[z], ImageOrientationPatient=[0, 1, 0, 0, 0, -1], ImagePositionPatient=[f'{7.25 - 2.5 * z:g}', '1', '2'], RescaleSlope='1', RescaleIntercept='-1024')
